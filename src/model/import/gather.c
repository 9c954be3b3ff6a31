/* gather.c: see gather.h. */
#include "model/import/gather.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 1 << 25 };

static const uint64_t sum_max = INT64_MAX;

/* ---- gathering --------------------------------------------------------------------------- */

static uint64_t pair_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

uint32_t qp_import_method_add(qp_import *im, const qp_import_method *m)
{
    qp_import_method *to = qp_buf_add(&im->methods);
    im->failed |= !to;
    if (to)
        *to = *m;
    return to ? (uint32_t)im->methods.n : 0;
}

uint32_t qp_import_thread(qp_import *im, const char *name)
{
    uint64_t hash;
    uint32_t known = qp_find_named(&im->thread_of, &im->threads,
                                   offsetof(qp_import_thread_row, name), name, &hash);
    if (known)
        return known;
    qp_import_node *root = qp_buf_add(&im->nodes);
    qp_import_thread_row *th = qp_buf_add(&im->threads);
    uint32_t number = (uint32_t)im->threads.n;
    im->failed |= !root || !th || !qp_dict_put(&im->thread_of, hash, number);
    if (im->failed)
        return 0;
    *th = (qp_import_thread_row){name, (uint32_t)im->nodes.n};
    root->thread = number;
    return number;
}

uint32_t qp_import_root(const qp_import *im, uint32_t thread)
{
    return thread ? QP_IMPORT_AT(im->threads, qp_import_thread_row, thread)->root : 0;
}

uint32_t qp_import_child(qp_import *im, uint32_t parent, uint32_t method)
{
    bool is_new;
    uint64_t key = pair_of(parent, method);
    if (!parent || !method)
        return 0;
    im->is_too_much |= im->nodes.n >= NODES_MAX && !qp_dict_get(&im->child_of, key);
    uint32_t number =
        im->is_too_much ? 0 : qp_buf_keyed(&im->nodes, &im->child_of, key, &is_new);
    im->failed |= !number && !im->is_too_much;
    if (number && is_new)
        *QP_IMPORT_AT(im->nodes, qp_import_node, number) =
            (qp_import_node){.parent = parent,
                             .method = method,
                             .thread = QP_IMPORT_AT(im->nodes, qp_import_node, parent)->thread};
    return number;
}

static void add(qp_import *im, uint64_t *to, uint64_t *sum, uint64_t n)
{
    im->is_too_much |= n > sum_max - *sum;
    if (im->is_too_much)
        return;
    *sum += n;
    *to += n;
}

void qp_import_charge(qp_import *im, uint32_t node, const qp_import_figures *f)
{
    if (!node)
        return;
    qp_import_figures *to = &QP_IMPORT_AT(im->nodes, qp_import_node, node)->f;
    add(im, &to->calls, &im->sums.calls, f->calls);
    add(im, &to->self, &im->sums.self, f->self);
    add(im, &to->samples, &im->sums.samples, f->samples);
    add(im, &to->pc_samples, &im->sums.pc_samples, f->pc_samples);
}

qp_import_line *qp_import_line_of(qp_import *im, uint32_t thread, uint32_t method,
                                  uint32_t line)
{
    uint64_t place = pair_of(thread, method);
    uint32_t pair = qp_dict_get(&im->pair_of, place);
    if (!line || line > INT32_MAX || !thread || !method)
        return NULL;
    if (!pair) {
        pair = (uint32_t)im->pair_of.n + 1;
        im->failed |= !qp_dict_put(&im->pair_of, place, pair);
    }
    bool is_new;
    uint32_t at = qp_buf_keyed(&im->lines, &im->line_of, pair_of(pair, line), &is_new);
    qp_import_line *l = at ? QP_IMPORT_AT(im->lines, qp_import_line, at) : NULL;
    im->failed |= !l;
    if (is_new)
        *l = (qp_import_line){.thread = thread, .method = method, .line = line};
    return l;
}

void qp_import_note(qp_import *im, const char *format, ...)
{
    char text[512];
    const char **to = qp_buf_add(&im->notes);
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (to)
        *to = qp_arena_text(&im->texts, text);
    im->failed |= !to || !*to;
}

const char *qp_import_text(qp_import *im, const void *bytes, size_t n_bytes)
{
    char *text = qp_arena_take(&im->texts, n_bytes + 1, 1);
    im->failed |= !text;
    if (!text)
        return NULL;
    memcpy(text, bytes, n_bytes);
    for (char *nul = memchr(text, '\0', n_bytes); nul;
         nul = memchr(nul, '\0', n_bytes - (size_t)(nul - text)))
        *nul = '?';
    return text;
}

const char *qp_import_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

qp_import_unit qp_import_unit_of(const char *word, size_t n)
{
    static const struct {
        const char *word;
        uint64_t scale;
    } units[] = {{"nanoseconds", 1},        {"ns", 1},       {"10ns", 10},
                 {"microseconds", 1000},    {"us", 1000},    {"\xC2\xB5s", 1000},
                 {"milliseconds", 1000000}, {"ms", 1000000}, {"seconds", 1000000000},
                 {"s", 1000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].word) == n && memcmp(units[i].word, word, n) == 0)
            return (qp_import_unit){true, units[i].scale};
    return (qp_import_unit){false, 1};
}

void qp_import_clock(qp_import *im, qp_import_unit unit, bool is_cpu)
{
    im->head.clock_kind = !unit.is_time ? QP_CLOCK_COUNTS
                          : is_cpu      ? QP_CLOCK_USER_KERNEL
                                        : QP_CLOCK_ELAPSED;
    im->head.clock_source = unit.is_time ? QP_SOURCE_HOST : QP_SOURCE_UNITS;
}
