/* prf.c: rows of the Xbase++ profiler as records of a trace.
 *
 * One file contains all threads, each under its number; they run at the same time, so that a row of
 * one does not suspend the others. Rows name the call that ends, not how many end. */
#include <string.h>
#include <time.h>

#include "base/containers/alloc.h"
#include "replay/read/source.h"
#include "xbase/xbase.h"

enum {
    NS_A_MS = 1000000, /* ticks are ns: an average of ms has a part of one */
    RECORDS_A_ROW = 4, /* SWITCH, LINE or VALUE with one TEXT, and what happened ... */
    TEXT_MOST = 4096   /* ... and the rest of the texts, so many bytes of them */
};

struct qp_trace_prf {
    qp_prf_reader reader;
    qp_dict methods; /* hash of the name -> number of the first row that had it */
    uint32_t thread; /* of the row before; 0: none */
};

/* @return the cell that replaces the name */
static uint32_t method_of(qp_trace *t, const qp_prf_row *row)
{
    uint64_t hash = qp_hash_bytes(QP_HASH_START, row->call, row->call_bytes);
    uint32_t cell = qp_dict_get(&t->prf->methods, hash);
    if (cell)
        return cell;
    cell = (uint32_t)t->prf->methods.n + 1;
    t->failed |= !qp_dict_put(&t->prf->methods, hash, cell);
    qp_names_add_method(&t->names, cell,
                        &(qp_method_names){.id = cell,
                                           .flags = QP_METHOD_REGISTERED,
                                           .first_line = row->op == 'I' ? row->line : 0,
                                           .name = {row->call, row->call_bytes}});
    return cell;
}

static void put(qp_trace_os_thread *c, qp_trace_op op, uint64_t at_ms, uint32_t a, uint32_t b)
{
    uint64_t most = UINT32_MAX, ms = at_ms < most ? at_ms : most;
    c->batch[c->n++] = qp_trace_make(op, ms * NS_A_MS, a, b);
}

static void put_thread(qp_trace *t, qp_trace_os_thread *c, const qp_prf_row *row)
{
    if (row->thread == t->prf->thread)
        return;
    t->prf->thread = row->thread;
    if (!qp_names_thread(&t->names, row->thread))
        qp_names_add_thread(&t->names, row->thread, &(qp_trace_thread){.ordinal = row->thread},
                            (qp_name){"", 0});
    put(c, QP_TRACE_SWITCH, row->time_ms, row->thread, 0);
}

/* Parameters, or the result, as one text without a type. */
static void put_params(qp_trace_os_thread *c, const qp_prf_row *row)
{
    char bytes[TEXT_MOST + 2 + QP_TRACE_TEXT_BYTES] = "";
    bool is_result = row->op == 'O' || row->op == 'o';
    size_t n = row->params_bytes < TEXT_MOST ? row->params_bytes : TEXT_MOST;
    memcpy(bytes + 1, row->params, n);
    n += 3; /* the ends of type, text and comment */
    memset(bytes + n - 2, 0, sizeof bytes - (n - 2));
    put(c, QP_TRACE_VALUE, row->time_ms, is_result ? 0 : 1, (uint32_t)n);
    for (size_t at = 0; at < n; at += QP_TRACE_TEXT_BYTES) {
        qp_trace_record *r = &c->batch[c->n++];
        r->word = 0;
        memcpy(&r->word, bytes + at, 7);
        memcpy(&r->a, bytes + at + 7, 4);
        memcpy(&r->b, bytes + at + 11, 4);
        r->word |= (uint64_t)QP_TRACE_TEXT << QP_TRACE_OP_SHIFT;
    }
}

static void put_row(qp_trace *t, qp_trace_os_thread *c, const qp_prf_row *row)
{
    uint32_t method = method_of(t, row);
    put_thread(t, c, row);
    if (t->prf->reader.has_params && row->params_bytes)
        put_params(c, row);
    if ((row->op == 'O' || row->op == 'I') && row->line)
        put(c, QP_TRACE_LINE, row->time_ms, row->line, 0);
    if (row->op == 'i')
        put(c, QP_TRACE_CALL, row->time_ms, method, row->line);
    else if (row->op == 'I')
        put(c, QP_TRACE_ENTRY, row->time_ms, 0, method);
    else if (row->op == 'O')
        put(c, QP_TRACE_EXIT, row->time_ms, QP_EXIT_NAMED, method);
    else
        put(c, QP_TRACE_RETURN, row->time_ms, method, row->line);
}

static bool fill(qp_trace *t, qp_trace_os_thread *c)
{
    const size_t most = RECORDS_A_ROW + TEXT_MOST / QP_TRACE_TEXT_BYTES + 1;
    qp_prf_row row;
    if (!qp_trace_batch(t, c))
        return false;
    while (c->n + most <= QP_BATCH_RECORDS && !t->failed &&
           qp_prf_reader_next(&t->prf->reader, &row))
        put_row(t, c, &row);
    t->losses.n_damaged = t->prf->reader.n_damaged;
    t->losses.n_unread_packets = t->prf->reader.n_unread_packets;
    t->losses.n_unread_texts = t->prf->reader.n_unread_texts;
    if (!c->n)
        t->losses.n_cut_bytes = qp_prf_reader_cut(&t->prf->reader);
    t->position = t->prf->reader.n_read;
    t->info.n_bytes = t->prf->reader.n_bytes;
    c->records = c->batch;
    return c->n > 0;
}

/* The day in a table's header, whose years some write without the century. @return ns since
 * 1970; 0: it has none */
static uint64_t changed_at(const qp_prf_reader *r)
{
    enum { CENTURY = 100, FIRST_YEAR = 80 };
    qp_dbf_day d = r->table.day;
    struct tm day = {.tm_year = d.year < FIRST_YEAR ? d.year + CENTURY : d.year,
                     .tm_mon = d.month - 1,
                     .tm_mday = d.day};
    bool is_day = !r->is_text && d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31;
    return is_day ? (uint64_t)timegm(&day) * 1000000000 : 0;
}

/* The table may have grown. */
static bool refresh(qp_trace *t)
{
    qp_trace_os_thread_wake(t, 0);
    return true;
}

static void close_prf(qp_trace *t)
{
    qp_prf_reader_close(&t->prf->reader);
    qp_dict_fini(&t->prf->methods);
    qp_free(t->prf);
}

bool qp_rows_open(qp_trace *t, const char *path, qp_error *error)
{
    static const qp_trace_source rows = {fill, refresh, close_prf};
    const char *why = "not enough memory";
    struct qp_trace_prf *prf = qp_alloc_zeroed(1, sizeof *prf);
    if (!prf || !qp_prf_reader_open(&prf->reader, path, &why)) {
        qp_error_fail(error, "%s: %s", path, why);
        qp_free(prf);
        return false;
    }
    t->sources[0] = &rows;
    t->prf = prf;
    t->info.kind = QP_TRACE_OF_XBASE;
    const char *slash = strrchr(t->path, '/');
    t->info.program = slash ? slash + 1 : t->path;
    t->info.changed_at = changed_at(&prf->reader);
    t->info.n_bytes = prf->reader.n_bytes;
    t->info.is_ended = true;
    qp_trace_os_thread_wake(t, qp_trace_os_thread_of(t, 0));
    return true;
}
