/* cover.c: `qprof cover`: the table of its commands. */
#include "cli/cover/cover.h"

static const qp_command *const subs[] = {&qp_command_cover_report,  &qp_command_cover_annotate,
                                         &qp_command_cover_merge,   &qp_command_cover_diff,
                                         &qp_command_cover_check,   &qp_command_cover_context,
                                         &qp_command_cover_adjust,  &qp_command_cover_export,
                                         &qp_command_cover_summary, NULL};

const qp_command qp_command_cover = {
    .name = "cover",
    .operands = "COMMAND [options] [FILE...]",
    .summary = "lines, branches and functions that were reached, and by which tests",
    .about =
        "Shows what of a program was executed. Record it with qprof run -collect=coverage\n"
        "-- PROGRAM, or together with a profile with -cover. Several FILEs are added up.",
    .examples =
        "qprof cover report --uncovered          files, and the lines that were missed\n"
        "qprof cover annotate src/parse.lua      its source with counts\n"
        "qprof cover export --to=lcov -o lcov.info",
    .subs = subs};
