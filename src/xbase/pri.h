/* pri.h: the settings of an Xbase++ trace: lines KEY=VALUE, a text that people edit.
 *
 * The text is the only store: what nobody knows stays where it was, and comments, too. A later
 * line wins. Nothing is allocated. */
#ifndef QP_XBASE_PRI_H
#define QP_XBASE_PRI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"

/* X(id, default, lowest, highest); highest 0: a text. */
#define QP_PRI_KEYS(X)                                                                         \
    X(OPERATIONMODE, "1", 0, UINT32_MAX)                                                       \
    X(OUTFLUSHEVERY, "1000", 1, UINT32_MAX)                                                    \
    X(PROGRAM, "", 0, 0)                                                                       \
    X(PARAMETERS, "", 0, 0)                                                                    \
    X(BUILTINS, "1", 0, 1)                                                                     \
    X(HUMANREADABLE, "0", 0, 1)                                                                \
    X(SYMBOLSIZE, "64", 1, 254)                                                                \
    X(PARAMLIST, "0", 0, 1)                                                                    \
    X(TIMELINE, "1", 0, 1)                                                                     \
    X(LINENUMBERS, "1", 0, 1)                                                                  \
    X(EXCLUDETHREAD, "", 0, 0)                                                                 \
    X(EXCLUDESYMBOL, "", 0, 0)                                                                 \
    X(OUTFILE, "%v.PRF", 0, 0)

typedef enum {
#define QP_X(id, initial, low, high) QP_PRI_##id,
    QP_PRI_KEYS(QP_X)
#undef QP_X
        QP_N_PRI
} qp_pri_key;

enum { /* OPERATIONMODE */
       QP_PRI_ON = 1,
       QP_PRI_EXTENDED = 8,      /* i and o are written as such */
       QP_PRI_FLUSH = 1024,      /* every OUTFLUSHEVERY entries; QP_PRI_PACKETS contains it */
       QP_PRI_PACKETS = 2048,    /* each of them is a file */
       QP_PRI_UNFILTERED = 4096, /* both ends of a call report it */
       QP_PRI_MODES =
           QP_PRI_ON | QP_PRI_EXTENDED | QP_PRI_FLUSH | QP_PRI_PACKETS | QP_PRI_UNFILTERED,

       QP_PRI_BYTES = 16 * 1024 /* the whole text */
};

/* 16 KiB: not on the stack. Copyable. */
typedef struct {
    uint32_t number[QP_N_PRI]; /* of keys that are numbers */
    uint32_t n_bytes;
    char text[QP_PRI_BYTES]; /* lines, each with a NUL, without blanks at their ends */
} qp_pri;

/* All keys with their defaults. */
void qp_pri_init(qp_pri *p);

/* @return QP_N_PRI: unknown; case does not matter */
qp_pri_key qp_pri_find(const char *name, size_t n_bytes);
const char *qp_pri_name(qp_pri_key key);

/* Text of a value in force. Valid until p changes. */
const char *qp_pri_value(const qp_pri *p, qp_pri_key key);

/* Is there such a key, and may it have this value? @return false: see error, what was expected */
bool qp_pri_check(const char *key, const char *value, qp_error *error);

/* Set one key; its line is replaced. Texts have no line ends.
 * @return false: see error, nothing has changed */
bool qp_pri_set(qp_pri *p, qp_pri_key key, const char *value, qp_error *error);

/* The settings of a PRI file of n_bytes, with LF or CRLF. What it does not say is as before, which
 * is not p. @return false: see error; p is of no use */
bool qp_pri_read(qp_pri *p, const qp_pri *before, const char *text, size_t n_bytes,
                 qp_error *error);

/* The file: every line and CRLF. @return bytes that it takes; more than room: nothing is written */
size_t qp_pri_write(const qp_pri *p, char *to, size_t room);

/* Is it one of a list separated by commas or blanks? The name in n_bytes; a number. */
bool qp_pri_list_has(const char *list, const char *name, size_t n_bytes);
bool qp_pri_list_has_number(const char *list, uint32_t number);

#endif
