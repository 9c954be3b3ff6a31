/* prf_packets.c: which packets lie beside a trace: the next few at a time, however many there are. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "xbase/prf_read.h"

/* The number in the name of a packet: six digits, or more if need be. @return 0: it is none */
static uint64_t number_of(const char *name, const char *trace)
{
    size_t n_trace = strlen(trace), n_digits;
    uint64_t number = 0;
    if (strncmp(name, trace, n_trace) != 0 || name[n_trace] != '.')
        return 0;
    const char *digits = name + n_trace + 1;
    for (n_digits = 0; digits[n_digits] >= '0' && digits[n_digits] <= '9'; n_digits++)
        number = n_digits < 19 ? number * 10 + (unsigned)(digits[n_digits] - '0') : 0;
    bool is_padded = n_digits == 6 || (n_digits > 6 && *digits != '0');
    return is_padded && !digits[n_digits] ? number : 0;
}

/* Keep the smallest ones. */
static void keep(qp_prf_packets *p, uint64_t number)
{
    unsigned i = p->n;
    if (i < QP_PRF_PACKETS_AHEAD)
        p->n++;
    else if (p->numbers[--i] < number)
        return;
    for (; i && p->numbers[i - 1] > number; i--)
        p->numbers[i] = p->numbers[i - 1];
    p->numbers[i] = number;
}

static void look_ahead(qp_prf_packets *p, const char *path)
{
    char folder[QP_PRF_PATH_BYTES];
    const char *slash = strrchr(path, '/'), *trace = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(trace - path) : 1,
             slash ? path : ".");
    p->n = p->next = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        uint64_t number = number_of(e->d_name, trace);
        if (number > p->last)
            keep(p, number);
    }
    if (d)
        closedir(d);
}

uint64_t qp_prf_packets_next(qp_prf_packets *p, const char *path)
{
    if (p->next == p->n)
        look_ahead(p, path);
    if (p->next == p->n)
        return 0;
    p->last = p->numbers[p->next++];
    return p->last;
}
