/* fold.h: --focus, --hide and --hide-module: what of a profile a report is about. */
#ifndef QP_CLI_FOLD_H
#define QP_CLI_FOLD_H

#include "cli/cli.h"

#define QP_FLAGS_FOLD                                                                          \
    {"focus",                                                                                  \
     0,                                                                                        \
     QP_FLAG_TEXT,                                                                             \
     "METHOD",                                                                                 \
     QP_FLAG_AT(fold.focus),                                                                   \
     NULL,                                                                                     \
     "only calls of METHOD and what they called: 100 %"},                                      \
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

/* qp_cli_load(), and fold what the flags say. */
int qp_cli_load_folded(qp_cli *cli, const char *file, qp_model **m);

#endif
