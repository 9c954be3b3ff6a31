/* parts.c: which of the runs of a sum are not whole. Their notes say so: those that qp_merge_add() makes. */
#include <stdio.h>
#include <string.h>

#include "base/text/buf.h"
#include "model/model.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

qp_run_parts qp_run_parts_of(const qp_run_note *notes, size_t n)
{
    static const char origin[] = "merged from ", damage[] = " was damaged: ";
    qp_run_parts p = {0};
    const char *last = "";
    size_t n_last = 0; /* bytes of the name of the damaged file before */
    for (size_t i = 0; i < n; i++) {
        const char *text = notes[i].text, *found = strstr(text, damage);
        bool is_origin = notes[i].is_message && strncmp(text, origin, sizeof origin - 1) == 0;
        p.n_runs += is_origin;
        p.n_killed +=
            is_origin && (ends_with(text, ", unsealed)") || ends_with(text, " (unsealed)"));
        if (is_origin || !notes[i].is_message || !found)
            continue;
        size_t n_name = (size_t)(found - text);
        p.n_damaged += n_name != n_last || memcmp(text, last, n_name) != 0;
        last = text;
        n_last = n_name;
    }
    return p;
}

size_t qp_run_parts_texts(const qp_run_parts *p, char texts[2][QP_PARTS_BYTES])
{
    size_t n = 0;
    if (p->n_killed)
        qp_text_format(
            texts[n++], QP_PARTS_BYTES,
            "%zu of %zu runs %s killed: figures go up to the last event of each thread",
            p->n_killed, p->n_runs, p->n_killed == 1 ? "was" : "were");
    if (p->n_damaged)
        qp_text_format(texts[n++], QP_PARTS_BYTES,
                       "%zu of the merged files %s damaged: what could be read is in the sum",
                       p->n_damaged, p->n_damaged == 1 ? "was" : "were");
    return n;
}
