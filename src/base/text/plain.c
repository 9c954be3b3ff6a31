/* plain.c: a name can neither forge a line nor speak to a terminal. */
#include "base/text/plain.h"

char *qp_plain(const char *name, size_t n, char *to, size_t n_room)
{
    size_t i = 0;
    for (; i < n && name[i] && i + 1 < n_room; i++)
        to[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7F ? '?' : name[i];
    to[i] = '\0';
    return to;
}
