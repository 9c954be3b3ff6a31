/* pattern.h: call patterns: which stacks count, and which frame they charge; and the PC command,
 * which has one.
 *
 *   pattern = thread { "|" thread }     thread = primary { "->" primary }
 *   primary = "(" pattern ")" | "*" | [":"] module ["." procedure] [":"]
 *
 * A stack counts if some thread of the expanded pattern fits its innermost frames. The expansion
 * is never written out: matching takes sets of frame positions through the pattern, so that time
 * and memory are bounded by the pattern's size times its nesting times the depth of the stack. */
#ifndef QP_CODE_PATTERN_H
#define QP_CODE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/layout.h"
#include "format/options.h" /* qp_parse */

enum {
    QP_PATTERN_BYTES = 64 * 1024, /* of a pattern's text */
    QP_PATTERN_ITEMS = 4096,      /* primaries and groups */
    QP_PATTERN_NESTING = 256,
    QP_PATTERN_FOREIGN = -1 /* the charged frame is none: foreignPcs */
};

typedef enum {
    QP_ITEM_STAR,
    QP_ITEM_MODULE,
    QP_ITEM_PROCEDURE,
    QP_ITEM_THREAD,
    QP_ITEM_ANY
} qp_item_kind;

/* A node of the parsed pattern. */
typedef struct {
    uint16_t kind; /* qp_item_kind; THREAD: children in turn; ANY: one of the children */
    bool is_caller_charged, is_charged; /* a colon before, after the name */
    uint16_t first, next;               /* child, sibling: indices; 0: none */
    uint32_t module, procedure;         /* bytes into the names, which end with NUL */
} qp_item;

typedef struct {
    qp_item items[QP_PATTERN_ITEMS]; /* item 0 is unused */
    char names[QP_PATTERN_BYTES];
    uint16_t n_items, root;
    uint32_t n_names; /* bytes */
} qp_pattern;

/* @param error  where and what, if it is refused
 * @return QP_PARSE_OK, QP_PARSE_SYNTAX, QP_PARSE_ROOM: too large or too deep */
qp_parse qp_pattern_parse(qp_pattern *p, const char *text, qp_error *error);

/* Names are compared without regard to the case of ASCII letters. */
bool qp_pattern_name_fits(const qp_pattern *p, const qp_item *item, const char *module,
                          const char *procedure);

/* A stack to be compared. */
typedef struct {
    uint32_t n_frames;
    bool is_foreign; /* the innermost frame is no procedure: only a star fits it */
    /* Does frame i (0: outermost) have the name of this item, MODULE or PROCEDURE? */
    bool (*fits)(void *to, const qp_item *item, uint32_t frame);
    void *to;
} qp_pattern_stack;

typedef enum { QP_PATTERN_NO, QP_PATTERN_YES, QP_PATTERN_NO_MEMORY } qp_pattern_answer;

/* Bytes of scratch that matching may need. */
size_t qp_pattern_scratch(const qp_pattern *p, uint32_t n_frames);

/* @param scratch  [n_bytes], aligned to 8; contents do not matter
 * @param charged  frame, or QP_PATTERN_FOREIGN. @param n_deep  that many outermost frames were
 *                 active for the one who is charged */
qp_pattern_answer qp_pattern_match(const qp_pattern *p, const qp_pattern_stack *stack,
                                   void *scratch, size_t n_bytes, int64_t *charged,
                                   uint32_t *n_deep);

/* ---- the PC command -------------------------------------------------------------------------- */

enum { QP_PC_DEFAULT_US = 10000 };

/* What kind of PC samples, how often, and which of them count. */
typedef struct {
    qp_pc_kind kind;
    uint64_t period_us;
    bool is_raised;      /* less was asked for than the shortest period */
    const char *pattern; /* [n_pattern] after WHEN, without the ';'; NULL: every stack counts */
    size_t n_pattern;
} qp_pc_command;

/* "PC {VIRTUAL|REAL} {t} {WHEN pattern;}", the word PC optional. Also parses the pattern.
 * @return QP_PARSE_OK; QP_PARSE_SYNTAX, QP_PARSE_ROOM: see error */
qp_parse qp_pc_parse(const char *text, qp_pc_command *command, qp_error *error);

#endif
