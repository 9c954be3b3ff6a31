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

/* Fold what the flags say. @param m  becomes the folded model, if there is anything to fold
 * @return false: a message was printed */
bool qp_cli_fold(const qp_cli *cli, qp_model **m);

#endif
