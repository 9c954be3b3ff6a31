/* trace.c: `qprof trace`: the table of its commands. */
#include "cli/trace/trace.h"

static const qp_command *const subs[] = {&qp_command_trace_dump,    &qp_command_trace_stat,
                                         &qp_command_trace_flow,    &qp_command_trace_slow,
                                         &qp_command_trace_profile, &qp_command_trace_export,
                                         &qp_command_trace_convert, &qp_command_trace_rebuild,
                                         &qp_command_trace_remark,  NULL};

const qp_command qp_command_trace = {
    .name = "trace",
    .operands = "COMMAND ...",
    .summary = "raw traces: every call and return, in order",
    .about = "A raw trace is the record of every call and return. These commands read it from "
             "a .qtrace file (also packed by zstd), from the rings of a profile (a flight "
             "recorder: live, left by a crash, or sealed), and from the DBF and delimited "
             "files of the Xbase++ profiler, in one file or in packets. FILE may be a process "
             "id. The .qtrace file of a program that was killed continues in the rings of its "
             "profile: specify both.",
    .examples = "qprof trace stat run.qtrace\n"
                "qprof trace slow handle_request run.qtrace\n"
                "qprof trace dump -f 4242",
    .subs = subs};
