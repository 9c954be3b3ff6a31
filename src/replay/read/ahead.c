/* ahead.c: a thread that reads the packets of a trace while another one uses their records. Read read_all, then
 * qp_trace_ahead_next.
 *
 * Runs are copied into blocks, each with what is known after it, so that the user of the records sees what it would
 * see if it read them itself, whatever the reader has found since. Both use the names, which do not change:
 * the dictionary was read before, and no profile adds to it. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/thread.h"
#include "replay/read/source.h"

enum {
    FILE_LEAST = 1 << 20, /* a shorter one is read before the thread has begun */
    BLOCKS = 8,
    RUN_MOST = QP_BATCH_RECORDS + 2,
    BLOCK_RECORDS = 2 * RUN_MOST,
    BLOCK_RUNS = 1024
};

typedef struct {
    uint32_t os_thread, n;
    qp_trace_progress read;
} held_run;

typedef struct {
    size_t n_runs, n_records;
    qp_trace_progress read; /* after the last run */
    held_run runs[BLOCK_RUNS];
    qp_trace_record records[BLOCK_RECORDS];
} block;

typedef struct qp_trace_ahead {
    qp_trace *t;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t is_filled, is_emptied;
    /* under the lock: blocks since the beginning */
    size_t n_filled, n_emptied;
    bool is_all;     /* none follows */
    bool is_stopped; /* none is wanted */
    /* of the user */
    const block *from; /* NULL: none is in use */
    size_t run, record;
    /* of the reader */
    qp_path_entry paths[QP_PATH_CACHE];
    block blocks[BLOCKS];
} ahead;

/* ---- the reader -------------------------------------------------------------------------- */

/* Wait until half of the blocks are free: threads that wake each other for every block spend more time on that than
 * they save. @return NULL: none is wanted */
static block *next_empty(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    if (a->n_filled - a->n_emptied == BLOCKS)
        while (!a->is_stopped && a->n_filled - a->n_emptied > BLOCKS / 2)
            pthread_cond_wait(&a->is_emptied, &a->lock);
    block *b = a->is_stopped ? NULL : &a->blocks[a->n_filled % BLOCKS];
    pthread_mutex_unlock(&a->lock);
    if (b)
        b->n_runs = b->n_records = 0;
    return b;
}

static void hand_over(ahead *a, block *b, bool is_all)
{
    b->read = a->t->read;
    pthread_mutex_lock(&a->lock);
    a->n_filled++;
    a->is_all = is_all;
    pthread_cond_signal(&a->is_filled);
    pthread_mutex_unlock(&a->lock);
}

static void hold(block *b, const qp_trace_run *run, const qp_trace_progress *read)
{
    b->runs[b->n_runs++] = (held_run){run->os_thread, (uint32_t)run->n, *read};
    memcpy(b->records + b->n_records, run->records, run->n * sizeof *run->records);
    b->n_records += run->n;
}

static void *read_all(void *to)
{
    ahead *a = to;
    qp_trace_run run;
    block *b;
    for (bool is_all = false; !is_all && (b = next_empty(a));) {
        while (b->n_runs < BLOCK_RUNS && b->n_records <= BLOCK_RECORDS - RUN_MOST) {
            is_all = !qp_trace_read(a->t, &run);
            if (is_all)
                break;
            hold(b, &run, &a->t->read);
        }
        hand_over(a, b, is_all);
    }
    return NULL;
}

/* ---- the user ---------------------------------------------------------------------------- */

/* The block in use has no more runs. @return false: none follows */
static bool next_filled(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    if (a->from) {
        a->n_emptied++;
        if (a->n_filled - a->n_emptied == BLOCKS / 2)
            pthread_cond_signal(&a->is_emptied);
    }
    while (a->n_filled == a->n_emptied && !a->is_all)
        pthread_cond_wait(&a->is_filled, &a->lock);
    a->from = a->n_filled > a->n_emptied ? &a->blocks[a->n_emptied % BLOCKS] : NULL;
    pthread_mutex_unlock(&a->lock);
    a->run = a->record = 0;
    return a->from != NULL;
}

bool qp_trace_ahead_next(ahead *a, qp_trace_run *run)
{
    while (!a->from || a->run == a->from->n_runs) {
        if (a->from)
            qp_trace_show(a->t, &a->from->read);
        if (!next_filled(a))
            return false;
    }
    const held_run *r = &a->from->runs[a->run++];
    *run = (qp_trace_run){r->os_thread, a->from->records + a->record, r->n};
    a->record += r->n;
    qp_trace_show(a->t, &r->read);
    return true;
}

/* ---- beginning and end ------------------------------------------------------------------- */

static void fini(ahead *a)
{
    pthread_cond_destroy(&a->is_filled);
    pthread_cond_destroy(&a->is_emptied);
    pthread_mutex_destroy(&a->lock);
    qp_free(a);
}

bool qp_trace_ahead_begin(qp_trace *t)
{
    bool pays = t->info.kind == QP_TRACE_OF_PACKETS && !t->model && !t->info.is_live &&
                t->info.n_bytes >= FILE_LEAST && sysconf(_SC_NPROCESSORS_ONLN) > 1;
    ahead *a = pays && !t->ahead ? qp_alloc_zeroed(1, sizeof *a) : NULL;
    if (!a)
        return false;
    a->t = t;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->is_filled, NULL);
    pthread_cond_init(&a->is_emptied, NULL);
    t->paths = a->paths;
    if (qp_helper_thread_start(&a->thread, read_all, a)) {
        t->ahead = a;
        return true;
    }
    t->paths = t->names.cache;
    fini(a);
    return false;
}

void qp_trace_ahead_end(qp_trace *t)
{
    ahead *a = t->ahead;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->is_stopped = true;
    pthread_cond_signal(&a->is_emptied);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    t->ahead = NULL;
    t->paths = t->names.cache;
    fini(a);
}
