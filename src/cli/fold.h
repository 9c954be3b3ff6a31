/* fold.h: --when, --focus, --hide and --hide-module: what of a profile a report is about. */
#ifndef QP_CLI_FOLD_H
#define QP_CLI_FOLD_H

#include "cli/cli.h"
#include "model/charge.h"

#define QP_FLAG_WHEN                                                                           \
    {                                                                                          \
        "when", 0, QP_FLAG_TEXT, "PATTERN", QP_FLAG_AT(fold.when), NULL,                       \
            "only call paths that fit, charged as the call pattern says: "                     \
            "'m.f->*' is m.f and all that it called"                                           \
    }
#define QP_FLAGS_FOLD                                                                          \
    QP_FLAG_SAMPLE_INDEX,                                                                      \
        {"focus",                                                                              \
         0,                                                                                    \
         QP_FLAG_TEXT,                                                                         \
         "METHOD",                                                                             \
         QP_FLAG_AT(fold.focus),                                                               \
         NULL,                                                                                 \
         "only calls of METHOD and what they called: 100 %"},                                  \
        {"hide",                                                                               \
         0,                                                                                    \
         QP_FLAG_NAMES,                                                                        \
         "GLOB",                                                                               \
         QP_FLAG_AT(fold.hide),                                                                \
         NULL,                                                                                 \
         "fold functions with such names into their callers"},                                 \
    {                                                                                          \
        "hide-module", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(fold.hide_modules), NULL,          \
            "the same for all functions of a module, or of a file"                             \
    }

/* A call pattern has a mistake: say so, with a caret below it. @return QP_EXIT_UNUSABLE */
int qp_fold_refuse_pattern(const qp_cli *cli, const char *pattern, const qp_parse_error *error);

/* A name of the pattern is nowhere in the run: say so. */
void qp_fold_remark(const qp_cli *cli, const qp_charges *c);

/* qp_cli_load(), and fold what the flags say. */
int qp_cli_load_folded(qp_cli *cli, const char *file, qp_model **m);

#endif
