/* show.h: event triggers as text: the recorder shows those of a run, the tool those of a file. */
#ifndef QP_CONFIG_SHOW_H
#define QP_CONFIG_SHOW_H

#include "config/config.h"

/* An event trigger, and what a configuration does not say of it. */
typedef struct {
    qp_config_event_trigger said;
    unsigned number; /* 0: not set, it does not exist yet */
    unsigned chain_number;
    bool is_initially_enabled;
    uint64_t n_hits;
} qp_shown;

enum { QP_SHOWN_BYTES = 512 }; /* of a line, without a line end */

/* What stands above the lines. */
void qp_show_head(char *line);
/* One line. */
void qp_show_line(const qp_shown *s, char *line);
/* One member. @param i  from 0. @return false: there are no more */
bool qp_show_member(const qp_shown *s, unsigned i, char *line);
/* What stands below them, always. */
void qp_show_foot(unsigned n_enabled, unsigned max, bool is_on, uint64_t n_dropped, char *line);

#endif
