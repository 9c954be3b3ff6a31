/* host.h: the interpreter of random programs: it makes each call to the recorder and tells it
 * to the naive profiler. */
#ifndef QP_TESTS_HOST_H
#define QP_TESTS_HOST_H

#include "model/compare.h"
#include "model/driver.h"
#include "model/naive.h"
#include "qprof.h"

enum {
    HOST_METHODS = 28,
    HOST_REGISTERED = 14, /* at the start; the others are met unknown */
    HOST_VIRTUAL = 12,
    HOST_MAX_THREADS = 60,
    HOST_MAX_DEPTH = 6000,
    HOST_MAX_SNAPSHOTS = 5
};

typedef enum { IDS_UP, IDS_DOWN, IDS_RANDOM, IDS_CONSTANT, IDS_FEW, N_ID_POLICIES } id_policy;
typedef enum { RUN_EXACT, RUN_ADAPTIVE, RUN_NONE, RUN_COUNTS } run_mode;

typedef struct {
    naive n;
    driver_result *result;
    run_mode mode;
    id_policy ids;
    bool is_inline;
    bool was_stopped, was_cleared;
    bool holds_time;  /* the last call may or may not have been an event: no time may pass */
    uint64_t jump;    /* ns by which the clock lags */
    uint64_t vt;      /* the virtual thread that runs */
    uint64_t host_id; /* system mode: bound by the last create; 0: none */
    qprof_thread *handle; /* of the thread that runs; NULL: to be asked for */
    unsigned n_snapshots, n_results;
    bool is_entering;  /* so that the callback is asked about a method that is entered */
    unsigned n_nested; /* callbacks that run */
    bool has_triggers;
    bool shares_rows; /* more threads than rows */
    bool is_spool;    /* a save is a cut, which also clears */
    uint64_t trigger_seed;
    void *triggers[NAIVE_TRIGGERS]; /* the recorder's objects, as in n.rules */
} host;

/* The clock that the library reads; the host's time is host.n.now. */
uint64_t host_clock(void);
void host_clock_show(host *d); /* the host's time is what the library reads now */
void host_clock_pass(host *d, uint64_t ns);
/* End a jump back: calls that are not events of the running thread see the clock where it
 * was. */
void host_clock_land(host *d);

uint64_t host_method(unsigned index);
void host_register(uint64_t id, int n_blocks, bool is_sorted, bool has_texts);
/* The callback of this host: it registers the method, unless o.answer_blocks is -1, and enters and leaves others. */
void host_answer(qprof_MethodID id);
void host_begin(host *d);

uint64_t host_vt(unsigned index);
/* The handle of the thread that runs; asking creates the thread. */
qprof_thread *host_handle(host *d);
size_t host_depth(const host *d);
void host_entry(host *d, uint64_t method, uint64_t id);
void host_exit(host *d, uint64_t id);

comparison host_comparison(host *d);
/* Compare a file with the naive profiler, then remove it. */
void host_compare(host *d, const char *file);

#endif
