/* apply.c: putting the options of the run in force, at its begin and after a change. Read
 * qp_apply_again first. */
#include "base/os/clock.h"
#include "record/clock/clock.h"
#include "record/control/control.h"
#include "record/sample/sample.h"
#include "record/stream/stream.h"

static uint64_t (*host_clock)(void);

void qp_recorder_set_clock(uint64_t (*now)(void))
{
    host_clock = now;
}

int qp_apply_clock(qp_error *error)
{
    int code = qp_clock_begin(host_clock, error);
    if (qp_event_triggers_all_calls())
        qp_recorder.hooks |= QP_HOOK_EVENT_TRIGGERS;
    return code;
}

/* What the file will contain: QP_COLLECT_*. */
static uint32_t collected(void)
{
    const qp_options *o = &qp_recorder.options;
    uint32_t set = (uint32_t)o->number[QP_OPT_collect], collect = set & 3;
    bool is_stream = o->number[QP_OPT_trace_mode] == QP_TRACE_STREAM ||
                     qp_option_text(o, QP_OPT_trace_output)[0];
    if (!QP_PRODUCT_IS_COVERAGE && (set & 16 || is_stream))
        collect |= QP_COLLECT_TRACE | QP_COLLECT_PROFILE;
    if (qp_trace_xbase_is_asked_for())
        collect |= QP_COLLECT_PROFILE;
    if (!QP_PRODUCT_IS_COVERAGE && (set & 4 || qp_option_text(o, QP_OPT_pc)[0]))
        collect |= QP_COLLECT_SAMPLES;
    if (!QP_PRODUCT_IS_COVERAGE && set & 8)
        collect |= QP_COLLECT_STACK;
    if (o->number[QP_OPT_cover] != UINT64_MAX)
        collect |= QP_COLLECT_COVERAGE;
    return collect | (o->number[QP_OPT_cover] == 1 ? QP_COLLECT_ONCE : 0u);
}

void qp_apply_head(void)
{
    qp_head *h = qp_recorder_head();
    char words[4096];
    h->collect = collected();
    qp_options_print(&qp_recorder.options, words, sizeof words);
    h->options = qp_texts_add(&qp_recorder.texts, words);
    h->grain = (uint32_t)qp_recorder.options.number[QP_OPT_collection_granularity];
    h->flags &= ~(uint32_t)QP_FLAG_MIN_MAX;
    h->flags |= qp_recorder.options.number[QP_OPT_record_min_max] ? QP_FLAG_MIN_MAX : 0;
}

int qp_apply_output(char *output, size_t n_bytes, qp_error *error)
{
    int code = qp_output_name(NULL, qp_recorder.n_datasets, output, n_bytes, error);
    return !code && qp_output_check(output, error) != 0 ? QPROF_E_IO : code;
}

int qp_apply_start_traces(qp_error *error)
{
    int code = qp_trace_start(error);
    return code || QP_PRODUCT_IS_COVERAGE ? code : qp_trace_xbase_begin(error);
}

void qp_apply_stop_traces(void)
{
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_end();
    qp_trace_stop();
}

void qp_apply_start(void)
{
    qp_cost_measure();
    if (!qp_recorder.options.number[QP_OPT_record_data])
        qp_data_stop();
    qp_sampler_start();
}

int qp_apply_again(qp_error *error)
{
    char output[QP_PATH_MAX];
    qp_sampler_stop();
    qp_apply_stop_traces();
    qp_output_begin();
    int code = qp_apply_output(output, sizeof output, error);
    qp_apply_head();
    if (!code)
        code = qp_pc_begin(error);
    if (!code)
        code = qp_apply_clock(error);
    if (!code)
        code = qp_apply_start_traces(error);
    if (code)
        return code;
    qp_recorder.space.map.limit_bytes = qp_recorder.options.number[QP_OPT_memory_limit];
    qp_recorder.space.reserve_bytes = qp_recorder.space.map.limit_bytes / QP_RESERVE_SHARE;
    qp_recorder_head()->memory_limit = qp_recorder.space.map.limit_bytes;
    qp_recorder_head()->program = qp_texts_add(&qp_recorder.texts, qp_recorder.program);
    if (qp_recorder.options.number[QP_OPT_record_data])
        qp_data_start();
    qp_apply_start();
    qp_threads_reopen();
    return 0;
}
