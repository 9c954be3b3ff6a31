/* driver.c: from bytes to a run. Read driver_run first. */
#include "model/driver.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/host_rules.h"

static unsigned decode(uint8_t what)
{
    unsigned index = 0, sum = 0;
    while (what >= (sum += operations[index].weight))
        index++;
    return index;
}

static void run_operation(host *d, operation op)
{
    unsigned index = decode(op.what);
    if (operations[index].is_event) {
        if (!d->n.o.is_virtual && d->n.current < 0 && d->n.n_threads >= HOST_MAX_THREADS)
            return;
        uint64_t ns = op.c % 8 == 7 ? 1000u * op.b : op.c % 8;
        host_clock_pass(d, ns);
        d->holds_time = false;
    }
    operations[index].run(d, op);
}

/* ---- a run ------------------------------------------------------------------------------- */

static bool begin(host *d, const uint8_t *head)
{
    static const char *const modes[] = {"exact", "adaptive", "none", "exact -clock=counts"};
    char options[256], rows[32] = "";
    naive_options o = {.is_virtual = head[0] & 1,
                       .ignores_unknown_exits = (head[0] & 6) == 6,
                       .records = (head[0] & 56) != 56,
                       .clears_on_save = head[0] & 64};
    d->mode = head[1] < 140   ? RUN_EXACT
              : head[1] < 180 ? RUN_ADAPTIVE
              : head[1] < 215 ? RUN_NONE
                              : RUN_COUNTS;
    o.has_times = d->mode != RUN_NONE;
    o.is_estimated = d->mode == RUN_ADAPTIVE;
    o.is_counts_clock = d->mode == RUN_COUNTS;
    o.answer_blocks = head[2] & 1 ? -1 : head[2] % 32;
    d->ids = head[3] % N_ID_POLICIES;
    d->is_inline = head[4] & 1;
    d->is_spool = (head[4] & 6) == 6;
    /* a thread with a handle keeps its row; a status, which triggers need, is kept with a row */
    d->shares_rows = o.is_virtual && !d->is_inline && (head[4] & 8) && !(head[5] & 1);
    if (d->shares_rows)
        snprintf(rows, sizeof rows, "-thread-rows=%d", 1 + (head[4] >> 4) % 4);
    o.clears_on_save |= d->is_spool;
    d->vt = host_vt(0);
    d->was_stopped = !o.records;
    host_begin(d);
    naive_init(&d->n, &o, UINT64_C(1) << 40);
    host_clock_show(d);
    qprof_set_clock(host_clock);
    snprintf(options, sizeof options,
             "-output=run%%n.qprof -time=%s -unknown-exit=%s -record-data=%s"
             " -clear-on-save=%s -program-name=run %s %s",
             modes[d->mode], o.ignores_unknown_exits ? "ignore" : "unroll",
             o.records ? "yes" : "no", o.clears_on_save ? "yes" : "no",
             d->is_spool ? "-spool=. -spool-every=0" : "", rows);
    qprof_InitInfo info = {0, options, head[2] & 2 ? NULL : host_answer, o.is_virtual};
    if (head[2] & 2)
        d->n.o.answer_blocks = -1;
    int code = qprof_initialize_ex(&info);
    if (code)
        snprintf(d->result->difference, DRIVER_TEXT, "initialise: %s: %s", qprof_strerror(code),
                 qprof_error_text());
    for (unsigned i = 0; i < HOST_REGISTERED && !code; i++) {
        host_register(host_method(i), (int)(i % 33), true, true);
        naive_register(&d->n, host_method(i), (int)(i % 33), true);
    }
    d->n.get_results = host_triggers_results;
    d->n.owner = d;
    if (code == 0)
        host_triggers_begin(d, head + 5);
    return code == 0;
}

static void end(host *d)
{
    host_clock_land(d);
    comparison c = host_comparison(d);
    if (!*d->result->difference)
        compare_diagnostics(&c, &d->n);
    qprof_shutdown();
    naive_pass_current(&d->n);
    bool is_same = !*d->result->difference;
    char name[64];
    bool is_written = host_triggers_dataset(name, sizeof name);
    if (is_same && (d->n.has_data || (is_written && (d->n.may_have_data || d->is_spool))))
        host_compare(d, name);
    else if (is_same && is_written && !qprof_diagnostic("no_events"))
        snprintf(d->result->difference, DRIVER_TEXT, "a run without data left a file");
    while (host_triggers_dataset(name, sizeof name))
        unlink(name);
    unlink("snapshot.qprof");
}

bool driver_run(const uint8_t *bytes, size_t n_bytes, driver_result *out)
{
    uint8_t head[DRIVER_HEAD_BYTES] = {0};
    host d = {.result = out};
    memset(out, 0, sizeof *out);
    size_t n_head = n_bytes < sizeof head ? n_bytes : sizeof head;
    memcpy(head, bytes, n_head);
    if (begin(&d, head)) {
        for (size_t i = n_head; i + DRIVER_OP_BYTES <= n_bytes && !*out->difference;
             i += DRIVER_OP_BYTES)
            run_operation(&d, (operation){bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]});
        end(&d);
    }
    qprof_set_clock(NULL);
    naive_fini(&d.n);
    return !*out->difference;
}

void driver_print(const uint8_t *bytes, size_t n_bytes)
{
    printf("head:");
    for (size_t i = 0; i < DRIVER_HEAD_BYTES && i < n_bytes; i++)
        printf(" %02x", bytes[i]);
    printf("\n");
    for (size_t i = DRIVER_HEAD_BYTES; i + DRIVER_OP_BYTES <= n_bytes; i += DRIVER_OP_BYTES)
        printf("  %02x %02x %02x %02x  %s\n", bytes[i], bytes[i + 1], bytes[i + 2],
               bytes[i + 3], operations[decode(bytes[i])].name);
}
