/* config.h: configuration files, statement by statement; which names they match; and event triggers
 * as text. The statements: docs/config.md.
 *
 * A text is read from its beginning to its end. The sink gets each statement as a structure whose
 * texts are valid until it returns; a mistake ends the reading. Nothing is allocated, and the text is
 * not changed: to apply either all of a file or nothing, read it twice. */
#ifndef QP_CONFIG_CONFIG_H
#define QP_CONFIG_CONFIG_H

#include <regex.h>
#include <stdbool.h>

#include "base/text/error.h"
#include "format/layout.h"
#include "format/options.h"

enum {
    QP_CONFIG_WORD_BYTES = 4096, /* of a word, with its NUL */
    QP_CONFIG_HEAD_BYTES =
        8192 /* of all words of a statement but for lists; of an option line */
};

/* ---- names --------------------------------------------------------------------------------- */

typedef enum { QP_NAME_LITERAL, QP_NAME_GLOB, QP_NAME_REGEX } qp_name_kind;
typedef enum {
    QP_ELEMENT_MODULE,
    QP_ELEMENT_FILE,
    QP_ELEMENT_CLASS,
    QP_ELEMENT_ROUTINE
} qp_element_kind;

/* A name of the list after the ':' of a line. */
typedef struct {
    qp_element_kind kind; /* of triggers and actions: ROUTINE */
    qp_name_kind name_kind;
    const char *name; /* without its prefixes; valid until the next element is read */
    bool is_checked;  /* no '!' before it */
} qp_config_element;

typedef struct {
    const char *at, *end;
    bool has_kinds;
    char *word; /* [QP_CONFIG_WORD_BYTES] */
} qp_config_list;

/* @return false: there are no more */
bool qp_config_next(qp_config_list *list, qp_config_element *element);

/* ---- statements ---------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    bool is_on, is_cycling, is_for_all_threads, is_checked;
    uint64_t pass, work;
    qp_config_list routines;
} qp_config_trigger;

typedef enum {
    QP_ACTION_ENABLE,
    QP_ACTION_DISABLE,
    QP_ACTION_GET_RESULTS,
    QP_ACTION_CLEAR_RESULTS
} qp_action_kind;

typedef struct {
    const char *name;
    qp_action_kind kind;
    bool is_at_exit, is_checked;
    qp_config_list routines;
} qp_config_action;

typedef enum { QP_SETTING_NO, QP_SETTING_YES, QP_SETTING_NONE } qp_config_setting;

typedef struct {
    const char *name;
    bool has_mode; /* false: a change of an area that exists; then there are no elements */
    bool is_excluding;
    qp_config_setting
        lines; /* line level, otherwise routine level; NONE: lines, or excluding */
    qp_config_setting parameters, checked;
    qp_config_list elements;
} qp_config_area;

typedef enum {
    QP_CONTEXT_ANY,
    QP_CONTEXT_ANY_TASK,
    QP_CONTEXT_TASK,
    QP_CONTEXT_ANY_ISR,
    QP_CONTEXT_ISR,
    QP_CONTEXT_SYSTEM
} qp_config_context;

typedef enum { QP_OBJECT_ANY, QP_OBJECT_NUMBER, QP_OBJECT_NAME } qp_config_object_kind;

typedef enum { QP_WHEN_FUNCTION, QP_WHEN_VARIABLE, QP_WHEN_PREDICATE } qp_config_when_kind;

/* In the order of: == != < <= > >= | & */
typedef enum {
    QP_OP_EQ,
    QP_OP_NEQ,
    QP_OP_LSS,
    QP_OP_LEQ,
    QP_OP_GRT,
    QP_OP_GEQ,
    QP_OP_OR,
    QP_OP_AND
} qp_config_operator;

typedef enum {
    QP_DO_NOTHING,
    QP_DO_START,
    QP_DO_STOP,
    QP_DO_FUNCTION,
    QP_DO_LIBRARY,
    QP_DO_SNAPSHOT,
    QP_DO_DUMP,
    QP_DO_MARK
} qp_config_do;

typedef struct {
    const char *name;
    uint32_t event; /* qp_event */
    bool is_enabled, is_one_shot, is_deferred;
    qp_config_context context;
    uint64_t context_id; /* of TASK */
    qp_config_object_kind object_kind;
    uint64_t object; /* NUMBER */
    qp_name_kind object_name_kind;
    const char *object_name; /* NAME, of a routine */
    const char *when_name;   /* NULL: no condition */
    qp_config_when_kind when_kind;
    qp_config_operator when_operator;
    int when_value;
    const char *chain; /* name of an event trigger, also of a later line; NULL: none */
    unsigned chain_line, chain_column; /* where the file names it */
    qp_config_do action;
    const char *action_name; /* FUNCTION, LIBRARY */
    intptr_t action_argument;
    uint64_t longer_ns; /* fn-exit: only of calls that took longer; 0: all */
    uint64_t depth; /* fn-entry: only this deep or deeper, the outermost frame is 1; 0: all */
    uint64_t used;  /* memory: only from this percentage on; 0: all */
    uint64_t most_a_second; /* hits; 0: any number */
} qp_config_event_trigger;

/* Statements that are off or on. */
typedef enum {
    QP_SWITCH_INITIAL_STATUS,
    QP_SWITCH_PROFILING,
    QP_SWITCH_TRIGGERING
} qp_config_switch;

/* ---- reading ------------------------------------------------------------------------------- */

/* Each is called for one statement and returns 0, or a code below 0 with error->text filled, which
 * ends the reading. NULL: such statements are read and have no effect. */
typedef struct {
    /* An option line: "-name=value ...", as qp_options_parse() takes it. error->column: in words */
    int (*on_options)(void *to, const char *words, qp_error *error);
    int (*on_switch)(void *to, qp_config_switch which, bool is_on, qp_error *error);
    int (*on_trigger)(void *to, const qp_config_trigger *trigger, qp_error *error);
    int (*on_action)(void *to, const qp_config_action *action, qp_error *error);
    int (*on_area)(void *to, const qp_config_area *area, qp_error *error);
    int (*on_event_trigger)(void *to, const qp_config_event_trigger *trigger, qp_error *error);
    /* A PC command that qp_pc_parse() has taken. */
    int (*on_pc)(void *to, const char *command, qp_error *error);
    /* One KEY=VALUE of a trace line; error->column is set to the key's. */
    int (*on_trace)(void *to, const char *key, const char *value, qp_error *error);
    int (*on_pri)(void *to, const char *file, qp_error *error);
    void *to;
} qp_config_sink;

enum { QP_CONFIG_SYNTAX = 1 };

/* Bytes of the mark of UTF-8 at a text's beginning, which is skipped: 3 or 0. */
size_t qp_config_mark(const char *text, size_t n_bytes);

/* Read a text. @param text  [n_bytes], any bytes
 * @return 0; QP_CONFIG_SYNTAX or what a sink returned: see *error. Cost: a pass over the text */
int qp_config_read(const char *text, size_t n_bytes, const qp_config_sink *sink,
                   qp_error *error);

/* ---- names that match: match.c -------------------------------------------------------------- */

/* Skip a prefix. @return false: it is not there; "class::name" begins with a class of C++ */
bool qp_match_take_prefix(const char **name, const char *prefix);

/* The name without its prefix "glob:" or "regex:". "glob::f" is a name of C++, without a prefix. */
const char *qp_match_text(const char *name, qp_name_kind *kind);

/* Is a POSIX extended regular expression wrong, or could it take too much memory or time: many
 * repetitions, references back, deep nesting, length? @param why  [n_bytes] receives the reason */
bool qp_match_mistake(const char *expression, char *why, size_t n_bytes);

typedef struct {
    qp_name_kind kind;
    const char *text; /* of a LITERAL or GLOB; borrowed */
    regex_t regex;    /* of a REGEX */
} qp_match;

/* @param text  borrowed until qp_match_end(). @return false: no memory, or a mistake */
bool qp_match_begin(qp_match *m, qp_name_kind kind, const char *text);
/* A regular expression fits anywhere in the first 500 bytes of the name, a glob fits all of it. */
bool qp_match_fits(const qp_match *m, const char *name);
void qp_match_end(qp_match *m);

/* What elements of areas are compared with. "" where there is none. */
typedef struct {
    const char *module, *file, *class_name, *name;
    const char *display; /* class.name */
} qp_match_method;

/* A file fits by its path or its last part, a routine by its name or class.name. */
bool qp_match_fits_method(const qp_match *m, qp_element_kind kind,
                          const qp_match_method *method);

/* ---- event triggers as text: show.c -------------------------------------------------------- */

/* An event trigger of a run, or of a file. */
typedef struct {
    qp_config_event_trigger trigger;
    unsigned number; /* 0: not set, it does not exist yet */
    unsigned chain_number;
    bool is_initially_enabled;
    uint64_t n_hits;
} qp_shown;

enum { QP_SHOWN_BYTES = 512 }; /* of a line, without a line end */

/* The line above the lines. */
void qp_show_head(char *line);
/* One line. */
void qp_show_line(const qp_shown *s, char *line);
/* One member. @param i  from 0. @return false: there are no more */
bool qp_show_member(const qp_shown *s, unsigned i, char *line);
/* The line below them. */
void qp_show_foot(unsigned n_enabled, unsigned max, bool is_on, uint64_t n_dropped, char *line);

#endif
