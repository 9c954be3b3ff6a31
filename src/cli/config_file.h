/* config_file.h: a configuration file as the tool reads it: checked as a run would, and kept. */
#ifndef QP_CLI_CONFIG_FILE_H
#define QP_CLI_CONFIG_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/dict.h"
#include "cli/cli.h"
#include "config/config.h"

/* A trigger, an action or an area, in a few words. */
typedef struct {
    const char *kind, *name, *what;
    uint32_t n_names;
    uint32_t first_name; /* of an area, in elements */
    bool is_checked;
    bool turns_on; /* enables threads, if it is in use */
} qp_config_rule;

typedef struct {
    qp_arena arena;
    qp_buf rules;    /* qp_config_rule */
    qp_buf triggers; /* qp_config_event_trigger */
    qp_buf elements; /* qp_config_element, of areas */
    qp_dict names;   /* kind and name: its number in the order of the file */
    uint32_t n_options, n_enabled;
    qp_config_said triggering, initial_status, profiling;
    bool has_active;   /* a trigger or an action is in use */
    bool turns_on;     /* one of them enables threads */
    bool has_failed;   /* no memory */
    const qp_cli *cli; /* for remarks */
} qp_config_file;

/* Read a file. What is wrong with it was printed, with its line and a caret below.
 * @return QP_EXIT_CLEAN; QP_EXIT_FAILED: it has a mistake; QP_EXIT_UNUSABLE: it cannot be read.
 * Call qp_config_file_fini() in any case */
int qp_config_file_read(const qp_cli *cli, const char *path, qp_config_file *file);
/* The same of its areas alone: the rest of it need not suit this machine. */
int qp_config_file_read_areas(const qp_cli *cli, const char *path, qp_config_file *file);
void qp_config_file_fini(qp_config_file *file);

#endif
