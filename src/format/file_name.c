/* file_name.c: see file_name.h. */
#include "format/file_name.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"

static char safe(char c)
{
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_plain || c == '.' || c == '-' ? c : '_';
}

bool qp_name_convert(const qp_name_facts *facts, char letter, char *out, size_t n_bytes)
{
    time_t now = (time_t)(qp_clock_wall() / 1000000000u);
    struct tm t;
    out[0] = '\0';
    switch (letter) {
    case 'v':
        snprintf(out, n_bytes, "%s", facts->program);
        break;
    case 'V':
        snprintf(out, n_bytes, "%s", facts->program_path);
        break;
    case 'p':
        snprintf(out, n_bytes, "%ld", facts->pid);
        break;
    case 'n':
        snprintf(out, n_bytes, "%u", facts->dataset);
        break;
    case 'T':
        snprintf(out, n_bytes, "%ld", facts->thread);
        break;
    case 'h':
        gethostname(out, n_bytes);
        out[n_bytes - 1] = '\0';
        break;
    case 't':
        if (localtime_r(&now, &t))
            strftime(out, n_bytes, "%H:%M", &t);
        return true;
    case 'd':
        if (localtime_r(&now, &t))
            strftime(out, n_bytes, "%y%m%d", &t);
        break;
    default:
        return false;
    }
    for (char *c = out; *c; c++)
        *c = safe(*c);
    return true;
}
