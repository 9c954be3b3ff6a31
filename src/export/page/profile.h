/* profile.h: what the parts of the profile page share. web/src/profile/data.ts is the other side of all
 * that they write. */
#ifndef QP_EXPORT_PAGE_PROFILE_H
#define QP_EXPORT_PAGE_PROFILE_H

#include "base/text/error.h"
#include "export/page/page.h"
#include "export/shared/profile.h"
#include "model/combine/combine.h"

/* A call path of two runs; one whose method is 0 is a thread's root. */
typedef struct {
    uint32_t parent, method; /* method: row of the comparison of functions */
    uint32_t creator;        /* of a thread's outermost paths: the path that created it, or 0 */
    struct {
        uint64_t calls, self, off; /* self, off: ticks of the side's run */
        uint64_t bytes, objects;
    } sides[QP_DIFF_SIDES];
} qp_html_path;

typedef struct {
    const qp_model *m;
    const qp_export_options *how;
    const qp_model *merged;      /* the run as reports show it: with merged threads */
    const qp_timeline *timeline; /* NULL: there is none, or two runs are shown */
    /* of two runs; else NULL and 0 */
    const qp_diff *functions, *threads;
    qp_html_path
        *paths; /* 0: the whole runs; the threads' roots, as their rows; callers first */
    uint32_t n_paths;
} qp_html;

/* The path that created the thread of which a path is an outermost one; 0: there is none, or threads are shown
 * apart. The page places callees after their callers in one pass, so that a creator has to come first, as it
 * does where a thread's paths are recorded after it. */
static inline uint32_t qp_html_creator(const qp_html *page, const qp_model *m, uint32_t node)
{
    const qp_model_thread *th = &m->threads[m->nodes[node].thread];
    const bool is_outermost = m->nodes[node].parent == th->root;
    const bool is_apart = page->how->is_apart || m->run.joined;
    return is_outermost && !is_apart && th->creator < node ? th->creator : 0;
}

/* What all runs of the page have. */
typedef struct {
    bool has_waits, has_memory;
} qp_html_content;

static inline qp_html_content qp_html_content_of(const qp_html *page)
{
    const qp_run_info *run = &page->m->run,
                      *base = page->how->base ? &page->how->base->run : run;
    return (qp_html_content){run->has_waits && base->has_waits,
                             run->has_memory && base->has_memory};
}

/* ---- diff.c ------------------------------------------------------------------------------ */

/* Compare, if there is a run to compare with. @return false: see error */
bool qp_html_compare(qp_html *page, qp_error *error);
void qp_html_compare_end(qp_html *page);
/* ,"methods":[...],"changes":[...] and ,"threads":[...], a row for a function, or thread, of either
 * run. */
void qp_html_changes(qp_out *out, const qp_html *page);

/* ---- timeline.c -------------------------------------------------------------------------- */

/* The blocks of the timeline, if there is one. @return false: no memory, or it could not be read */
bool qp_html_timeline(qp_out *out, const qp_html *page);

/* ---- plain.c ----------------------------------------------------------------------------- */

/* What is seen without JavaScript. @return false: no memory */
bool qp_html_plain(qp_out *out, const qp_html *page);

#endif
