/* with_tracy.h: Tracy without a server. DYNAMIC: the location of each zone is made at run time, as an
 * interpreter must; it is freed by the server alone. */
#include "tracy/TracyC.h"

#ifdef DYNAMIC
#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    TracyCZoneCtx zone = ___tracy_emit_zone_begin_alloc(                                       \
        ___tracy_alloc_srcloc((method), "native", 6, "m00", 3, 0), 1)
#else
#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    TracyCZone(zone, 1)
#endif
#define LEAVE(method, caller) ___tracy_emit_zone_end(zone)
