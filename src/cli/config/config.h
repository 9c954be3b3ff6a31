/* config.h: a configuration file as the tool reads it: checked as by a run, and kept. */
#ifndef QP_CLI_CONFIG_CONFIG_H
#define QP_CLI_CONFIG_CONFIG_H

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/text/buf.h"
#include "cli/core/cli.h"
#include "config/config.h"

/* A trigger, an action or an area. */
typedef struct {
    const char *kind, *name, *what; /* what: its settings as one line */
    uint32_t n_names;
    uint32_t first_word; /* index into words */
    uint32_t first_name; /* of an area: index into elements */
    bool is_checked;
    bool has_parameters; /* an area that retrieves values */
    bool turns_on;       /* enables threads while it is in use */
} qp_config_object;

/* A line of options, a PC command, a key of a trace line, a PRI file, a setting of a predefined area. */
typedef struct {
    const char *kind, *text; /* kind: "" or with a blank at its end */
} qp_config_line;

typedef struct {
    qp_arena arena;
    qp_buf objects;  /* qp_config_object */
    qp_buf triggers; /* qp_config_event_trigger */
    qp_buf elements; /* qp_config_element, of all areas */
    qp_buf words;    /* const char *: names of all objects, as written */
    qp_buf lines;    /* qp_config_line, in the order of the file */
    qp_dict names;   /* kind and name -> number in the order of the file */
    uint32_t n_options, n_enabled;
    qp_config_setting triggering, initial_status, profiling;
    bool has_active;   /* a trigger or an action is in use */
    bool turns_on;     /* one of them enables threads */
    bool has_failed;   /* no memory */
    const qp_cli *cli; /* for remarks */
} qp_config_file;

/* Read a file. Mistakes were printed, with the line and a caret below it.
 * @return QP_EXIT_CLEAN; QP_EXIT_FAILED: it has a mistake; QP_EXIT_UNUSABLE: it cannot be read.
 * Call qp_config_file_fini() in any case */
int qp_config_file_read(const qp_cli *cli, const char *path, qp_config_file *file);
/* Read only its areas: the other statements may be for another machine. @return the same */
int qp_config_file_read_areas(const qp_cli *cli, const char *path, qp_config_file *file);
/* The area of this name in a file whose areas were read.
 * @param why  [n_bytes] if there is none: one line, with those that exist @return NULL: none */
const qp_config_object *qp_config_file_area(const qp_config_file *file, const char *title,
                                            char *why, size_t n_bytes);
void qp_config_file_fini(qp_config_file *file);

/* Ask a running program to apply a file, through its live profile; print the answer.
 * @param pid  as typed
 * @return QP_EXIT_CLEAN; QP_EXIT_FAILED: it refused; QP_EXIT_UNUSABLE: no such program */
int qp_config_apply(const qp_cli *cli, const char *pid, const char *file);

#endif
