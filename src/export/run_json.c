/* run_json.c: what JSON documents about a profile have in common. */
#include "export/run_json.h"

#include <inttypes.h>
#include <stdio.h>

static void write_identity(qp_json *json, const qp_run *run)
{
    qp_json_text(json, "program", run->program);
    qp_json_text(json, "host", run->host);
    qp_json_text(json, "module", run->module);
    qp_json_text(json, "label", run->label);
    qp_json_text(json, "options", run->options);
    qp_json_text(json, "trace_file", run->trace_file);
    qp_json_text(json, "recorder", run->version);
    qp_json_count(json, "pid", run->pid);
    qp_json_count(json, "dataset", run->dataset);
    qp_json_text(json, "state", run->state_text);
    qp_json_moment(json, "started_at", run->started_at);
    qp_json_moment(json, "ended_at", run->ended_at);
}

static void write_measure(qp_json *json, const qp_model *m)
{
    const qp_run *run = &m->run;
    qp_json_text(json, "unit", run->unit);
    qp_json_text(json, "time", run->time_mode_text);
    qp_json_text(json, "clock", run->clock_text);
    qp_json_text(json, "clock_source", run->source_text);
    qp_json_text(json, "granularity", run->grain_text);
    qp_json_bool(json, "estimated", run->is_estimated);
    qp_json_bool(json, "has_times", run->has_times);
    qp_json_bool(json, "has_calls", run->has_calls);
    qp_json_bool(json, "has_paths", run->has_paths);
    qp_json_bool(json, "virtual_threads", run->is_virtual);
    qp_json_bool(json, "recording", run->is_recording);
    qp_json_count(json, "duration", qp_model_ns(m, run->wall));
    qp_json_count(json, "stopped", qp_model_ns(m, run->stopped));
    qp_json_count(json, "calls", run->calls);
    qp_json_count(json, "total", qp_model_ns(m, run->total));
    qp_json_text(json, "focus", *run->focus ? run->focus : NULL);
    qp_json_text(json, "when", *run->when ? run->when : NULL);
    qp_json_count(json, "hidden", run->n_hidden);
    qp_json_count(json, "overhead", qp_model_ns(m, run->cost_total));
    qp_json_count(json, "sample_period_ns", run->sample_period_ns);
    qp_json_count(json, "sample_period_reached_ns", run->sample_period_reached_ns);
    qp_json_count(json, "samples", run->n_passes);
    qp_json_count(json, "pc_period_ns", run->pc_period_ns);
    qp_json_text(json, "pc_clock",
                 !run->pc_period_ns ? NULL
                 : run->is_pc_real  ? "elapsed"
                                    : "user+kernel");
    qp_json_count(json, "memory_limit_bytes", run->memory_limit_bytes);
    qp_json_count(json, "file_bytes", run->file_bytes);
}

void qp_run_json(qp_json *json, const qp_model *m)
{
    qp_json_begin(json, "run", '{');
    write_identity(json, &m->run);
    write_measure(json, m);
    qp_json_begin(json, "notes", '[');
    for (size_t i = 0; i < m->run.n_notes; i++)
        qp_json_text(json, NULL, m->run.notes[i].text);
    qp_json_end(json, ']');
    qp_json_end(json, '}');
    qp_json_begin(json, "diagnostics", '{');
    for (size_t i = 0; i < m->run.n_diagnostics; i++)
        qp_json_count(json, m->run.diagnostics[i].name, m->run.diagnostics[i].count);
    qp_json_end(json, '}');
    qp_json_begin(json, "losses", '[');
    for (size_t i = 0; i < m->n_losses; i++)
        qp_json_text(json, NULL, m->losses[i]);
    qp_json_end(json, ']');
}

void qp_thread_json(qp_json *json, const qp_model *m, uint32_t thread)
{
    const qp_model_thread *th = &m->threads[thread];
    char id[32];
    qp_json_begin(json, NULL, '{');
    qp_json_count(json, "number", th->ordinal);
    qp_json_text(json, "name", th->name);
    snprintf(id, sizeof id, "0x%" PRIx64, th->host_id);
    qp_json_text(json, "id", id);
    qp_json_count(json, "system_id", th->system_id);
    qp_json_bool(json, "alive", th->is_alive);
    qp_json_bool(json, "parked", th->is_parked);
    qp_json_count(json, "open_frames", th->depth);
    qp_json_count(json, "calls", th->calls);
    qp_json_count(json, "total", qp_model_ns(m, th->total));
    qp_json_end(json, '}');
}

/* Minimum and maximum are null while no call is complete. */
static void write_extremes(qp_json *json, const qp_model *m, const qp_figures *f)
{
    if (f->min > f->max) {
        qp_json_null(json, "min");
        qp_json_null(json, "max");
        return;
    }
    qp_json_count(json, "min", qp_model_ns(m, f->min));
    qp_json_count(json, "max", qp_model_ns(m, f->max));
}

void qp_figures_json(qp_json *json, const qp_model *m, const qp_figures *f)
{
    qp_json_count(json, "calls", f->calls);
    qp_json_count(json, "hits", f->hits);
    qp_json_count(json, "skips", f->skips);
    qp_json_count(json, "self", qp_model_ns(m, f->self));
    qp_json_count(json, "total", qp_model_ns(m, f->total));
    qp_json_count(json, "average", qp_model_ns(m, qp_figures_average(f)));
    write_extremes(json, m, f);
    qp_json_count(json, "self_half", qp_model_ns(m, f->self_half));
    qp_json_count(json, "total_half", qp_model_ns(m, f->total_half));
    qp_json_count(json, "counts", f->counts);
    qp_json_count(json, "counts_total", f->counts_total);
    qp_json_count(json, "samples", f->samples);
    qp_json_count(json, "samples_total", f->samples_total);
    qp_json_count(json, "interrupts", f->interrupts);
    qp_json_count(json, "interrupts_total", f->interrupts_total);
}

void qp_method_json(qp_json *json, const qp_model *m, uint32_t method, const qp_figures *f)
{
    const qp_model_method *x = &m->methods[method];
    qp_json_text(json, "name", x->name);
    qp_json_text(json, "class", x->class_name);
    qp_json_text(json, "module", x->module);
    qp_json_text(json, "file", x->file);
    qp_json_count(json, "line", x->first_line);
    qp_json_text(json, "type", x->type);
    qp_json_bool(json, "includes_hidden", x->has_hidden);
    qp_figures_json(json, m, f);
}
