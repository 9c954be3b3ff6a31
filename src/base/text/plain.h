/* plain.h: names that others gave, for one line of a terminal or a log, without any memory. */
#ifndef QP_BASE_TEXT_PLAIN_H
#define QP_BASE_TEXT_PLAIN_H

#include <stddef.h>

/* n bytes of a name, cut to the room, with '?' for every control character. @return to */
char *qp_plain(const char *name, size_t n, char *to, size_t n_room);

#endif
