/* merge.c: `qprof merge`: the profiles of several runs as one. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/unit.h"
#include "cli/core/cli.h"
#include "model/combine/combine.h"

static bool is_good_usage(const qp_cli *cli)
{
    const qp_args *a = &cli->args;
    if (!a->output)
        qp_cli_fail(cli, "missing -o FILE; usage: qprof merge -o FILE PROFILE...");
    else if (!a->n_operands)
        qp_cli_fail(cli, "missing profiles; usage: qprof merge -o FILE PROFILE...");
    return a->output && a->n_operands;
}

/* @return QP_EXIT_*; after QP_EXIT_UNUSABLE a message was printed */
static int add_file(qp_cli *cli, qp_merge *sum, const char *file, const qp_progress *progress)
{
    qp_error error;
    qp_model *m;
    if (!qp_output_is_free(cli, cli->args.output, file, NULL))
        return QP_EXIT_UNUSABLE;
    uint64_t max_memory;
    if (!qp_cli_max_memory(cli, &max_memory))
        return QP_EXIT_UNUSABLE;
    const qp_load_options options = {.sample_type = cli->args.fold.sample_index,
                                     .max_memory = max_memory,
                                     .progress = *progress};
    qp_load_status status = qp_model_load(file, &options, &m, &error);
    if (status == QP_LOAD_UNUSABLE ||
        !qp_merge_add(sum, m, file, cli->args.is_forced, &error)) {
        qp_model_free(m);
        return qp_cli_fail(cli, "%s", error.text);
    }
    if (status == QP_LOAD_SALVAGED)
        qp_cli_warn(cli, "%s: damaged; the readable part is in the sum (%s)", file,
                    m->losses[0]);
    qp_model_free(m);
    return status == QP_LOAD_SALVAGED ? QP_EXIT_SALVAGED : QP_EXIT_CLEAN;
}

/* One profile is in memory at a time. */
static int add_files(qp_cli *cli, qp_merge *sum)
{
    qp_bar bar;
    int status = QP_EXIT_CLEAN, n = cli->args.n_operands;
    qp_progress progress = qp_bar_begin(&bar, "merging", (unsigned)n);
    for (int i = 0; status != QP_EXIT_UNUSABLE && i < n; i++) {
        int one = add_file(cli, sum, cli->args.operands[i], &progress);
        status = one > status ? one : status;
        bar.n_done++;
    }
    qp_bar_end(&bar);
    return status;
}

static void print_size(const qp_cli *cli, const qp_merge *sum)
{
    char profiles[QP_NUMBER_BYTES], calls[QP_NUMBER_BYTES], threads[QP_NUMBER_BYTES];
    qp_merge_size size = qp_merge_measure(sum);
    qp_screen_name(&cli->screen, cli->args.output, 0);
    qp_out_format(cli->screen.out, ": %s", qp_unit_things(profiles, size.n_runs, "profile"));
    if (size.calls) /* coverage alone counts them elsewhere */
        qp_out_format(cli->screen.out, " with %s on %s",
                      qp_unit_things(calls, size.calls, "call"),
                      qp_unit_things(threads, size.n_threads, "thread"));
    qp_out_char(cli->screen.out, '\n');
    char texts[2][QP_PARTS_BYTES];
    for (size_t i = 0, n = qp_run_parts_texts(&size.parts, texts); i < n; i++)
        qp_out_format(cli->screen.out, "  %s\n", texts[i]);
}

static int run_merge(qp_cli *cli)
{
    qp_error error;
    if (!is_good_usage(cli))
        return QP_EXIT_UNUSABLE;
    snprintf(cli->path, sizeof cli->path, "%s", cli->args.output);
    qp_merge *sum = qp_merge_new();
    if (!sum)
        return qp_cli_fail_memory(cli);
    int status = add_files(cli, sum);
    if (status != QP_EXIT_UNUSABLE && !qp_merge_write(sum, cli->args.output, &error))
        status = qp_cli_fail(cli, "%s", error.text);
    if (status != QP_EXIT_UNUSABLE)
        print_size(cli, sum);
    qp_merge_free(sum);
    return status;
}

const qp_command qp_command_merge = {
    .name = "merge",
    .operands = "-o FILE PROFILE...",
    .summary = "the sum of the profiles of several runs",
    .about = "Makes one profile of many. Functions are the same if their names, file and lines "
             "agree, threads if their names do, call paths if their functions do; calls, "
             "times, counts, samples, lines and blocks add up, minima and maxima are those of "
             "all runs. `qprof info` lists its runs. The order and the number of steps do not "
             "matter; one profile is in memory at a time. Profiles with different clocks, "
             "-time modes, granularities or PC commands are refused.",
    .flags = (const qp_flag[]){QP_TEXT("output", 'o', "FILE", output, "profile to write"),
                               QP_FLAG_FORCE,
                               QP_YES("force-merge", 0, is_forced,
                                      "sum of different versions of a source file; functions "
                                      "that differ are separate"),
                               QP_FLAG_SAMPLE_INDEX, QP_FLAGS_COMMON},
    .examples = "qprof merge -o all.qprof monday.qprof tuesday.qprof\n"
                "qprof merge -o all.qprof runs/*.qprof && qprof report all.qprof",
    .run = run_merge,
    .writes_profile = true};
