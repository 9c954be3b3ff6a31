/* origin.c: see origin.h. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/text/buf.h"
#include "model/combine/merge.h"

enum { MOMENT_BYTES = 40, PARTS_BYTES = 4000 };

/* "2026-01-02 03:04:05 UTC"; "" for one that is not known. */
static void put_moment(char *to, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    to[0] = '\0';
    if (ns && gmtime_r(&seconds, &parts))
        strftime(to, MOMENT_BYTES, "%Y-%m-%d %H:%M:%S UTC", &parts);
}

/* Append what it is, and the text: nothing if there is no text. */
static void put_part(char *parts, const char *what, const char *text)
{
    size_t n = strlen(parts);
    if (text && *text)
        qp_text_format(parts + n, PARTS_BYTES - n, "%s%s%.1000s", n ? ", " : " (", what, text);
}

char *qp_origin_text(char to[QP_ORIGIN_BYTES], const qp_origin *o)
{
    char parts[PARTS_BYTES] = "", moment[MOMENT_BYTES], pid[24] = "";
    put_moment(moment, o->started_at);
    if (o->pid)
        qp_text_format(pid, sizeof pid, "%" PRIu64, o->pid);
    put_part(parts, "", o->program);
    put_part(parts, "process ", pid);
    put_part(parts, "label ", o->label);
    put_part(parts, "started ", moment);
    put_part(parts, "options ", o->options);
    put_part(parts, "", o->state);
    return qp_text_format(to, QP_ORIGIN_BYTES, "merged from %.4000s%s%s", o->what, parts,
                          *parts ? ")" : "");
}

const char *qp_origin_common(const char *known, const char *text, const char *several)
{
    return !known || strcmp(known, text) == 0 ? text : several;
}
