/* kept.c: a profile of one request that was kept whole: the sums of its calls by path, for the commands and pages that
 * show profiles. */
#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "format/builder.h"
#include "model/combine/combine.h"
#include "model/read/read.h"

/* A call path: what its calls add up to. */
typedef struct {
    uint32_t parent, method; /* parent: number + 1 of an earlier one; 0: none */
    uint64_t calls, self, off, least, most;
} path;

typedef struct {
    const qp_kept_calls *calls;
    qp_buf paths; /* path */
    qp_buf open;  /* uint32_t: number + 1 of the path of each open call, by its depth */
    qp_dict child_of;
    bool failed;
} sums;

/* @return number + 1; 0: no memory */
static uint32_t path_below(sums *x, uint32_t parent, uint32_t method)
{
    bool is_new;
    const uint64_t key = (uint64_t)parent << 32 | (method + UINT32_C(1));
    const uint32_t number = qp_buf_keyed(&x->paths, &x->child_of, key, &is_new);
    if (number && is_new)
        ((path *)x->paths.items)[number - 1] =
            (path){.parent = parent, .method = method, .least = UINT64_MAX};
    return number;
}

static void add_call(sums *x, size_t i)
{
    const qp_kept_call *c = &x->calls->items[i];
    const uint64_t self = qp_kept_self(x->calls, i);
    uint32_t *at = qp_buf_at(&x->open, c->depth);
    uint32_t parent = at && c->depth ? ((const uint32_t *)x->open.items)[c->depth - 1] : 0;
    uint32_t number = at ? path_below(x, parent, c->method) : 0;
    x->failed |= !number;
    if (!number)
        return;
    *at = number;
    path *p = (path *)x->paths.items + number - 1;
    p->calls++;
    p->self = qp_sum(p->self, self);
    p->off = qp_sum(p->off, c->off < self ? c->off : self);
    p->least = self < p->least ? self : p->least;
    p->most = self > p->most ? self : p->most;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_head(qp_builder *b, const qp_kept_request *r, const char *program)
{
    qp_head *h = qp_builder_head(b);
    h->collect = QP_COLLECT_PROFILE;
    h->time_mode = QP_TIME_EXACT;
    h->clock_kind = h->user_clock = h->wait_clock = QP_CLOCK_ELAPSED;
    h->clock_source = QP_SOURCE_NS;
    h->grain = QP_GRAIN_FUNCTION;
    h->flags |= QP_FLAG_RECORDING | (r->off_ns ? QP_FLAG_WAITS : 0);
    h->tick_1 = h->ns_1 = 1;
    h->begun_raw = 1;
    h->end_raw = qp_sum(1, r->elapsed_ns);
    h->started_at = r->begun_at;
    h->program = qp_builder_text(b, program);
}

/* @param methods  their names, by their numbers; NULL: there is none of that number */
static void write_methods(qp_builder *b, const qp_buf *methods)
{
    for (size_t i = 0; i < methods->n; i++) {
        const char *name = ((const char *const *)methods->items)[i];
        const qp_builder_code code = {
            .id = i + 1, .flags = QP_METHOD_REGISTERED, .name = name ? name : "-"};
        qp_builder_method(b, &code);
    }
}

static void write_paths(qp_builder *b, const sums *x, const char *thread)
{
    qp_thread_record *th = qp_builder_thread(
        b, &(qp_thread_record){
               .name = qp_builder_text(b, thread), .state = QP_THREAD_ENDED, .n_lives = 1});
    for (size_t i = 0; th && i < x->paths.n; i++) {
        const path *p = (const path *)x->paths.items + i;
        const qp_node figures = {
            .n_calls = p->calls, .self = p->self, .self_min = p->least, .self_max = p->most};
        th->n_exits += p->calls;
        qp_builder_node(b, p->parent, p->method + 1, &figures);
        if (p->off)
            qp_builder_node_metrics(b, &(qp_node_metrics){.off = p->off});
    }
}

bool qp_kept_profile(const qp_kept_request *r, const qp_kept_calls *calls, const char *program,
                     void **bytes, size_t *n_bytes, qp_error *error)
{
    const char *why = "not enough memory";
    sums x = {.calls = calls, .paths = QP_BUF(path), .open = QP_BUF(uint32_t)};
    qp_buf methods = QP_BUF(const char *);
    qp_builder *b = qp_builder_new(0);
    bool is_good = b != NULL;
    qp_dict_init(&x.child_of);
    for (size_t i = 0; is_good && i < calls->n; i++) {
        const char **name = qp_buf_at(&methods, calls->items[i].method);
        is_good = name != NULL;
        if (name)
            *name = calls->items[i].name;
        add_call(&x, i);
    }
    if (is_good && !x.failed) {
        write_methods(b, &methods);
        write_paths(b, &x, r->thread);
        write_head(b, r, program);
        is_good = qp_builder_bytes(b, bytes, n_bytes, &why);
    } else {
        is_good = false;
    }
    qp_free(x.paths.items);
    qp_free(x.open.items);
    qp_free(methods.items);
    qp_dict_fini(&x.child_of);
    qp_builder_free(b);
    return is_good || qp_error_fail(error, "%s", why);
}
