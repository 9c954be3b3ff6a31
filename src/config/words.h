/* words.h: words, numbers and KEY=VALUE of statements. Private to src/config. */
#ifndef QP_CONFIG_WORDS_H
#define QP_CONFIG_WORDS_H

#include <stddef.h>

#include "config/config.h"

typedef struct {
    const char *text, *at, *end;
    const qp_config_sink *sink;
    qp_error *error;
    qp_config_switch which; /* the statement, if it is one of these */
    const char *blame;      /* the statement's name: the place of what a sink refuses */
    unsigned line;          /* of the place that was looked up last; 0: none */
    const char *line_begin;
    size_t n_head;
    char head[QP_CONFIG_HEAD_BYTES]; /* the words of the statement; or its one text */
    char word[QP_CONFIG_WORD_BYTES]; /* of a list */
} qp_config_reader;

/* A word without its quotes, in the reader's head. */
typedef struct {
    char *text;
    const char *at;                  /* where it begins in the file */
    const struct qp_config_key *key; /* of a value */
} qp_config_text;

typedef enum { QP_TAKEN, QP_NO_MORE, QP_MISTAKE } qp_taken;

/* Line and column of a place in the text. Cost: a pass over the text since the place before. */
void qp_config_place(qp_config_reader *r, const char *at, unsigned *line, unsigned *column);

/* Set the error, with a place of the text. @return QP_MISTAKE */
qp_taken qp_config_refuse(qp_config_reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Bytes of a '\' and the line end after it; 0: there is none. */
size_t qp_config_continuation(const char *at, const char *end);

/* Copy the next word of a statement to `to`, without its quotes.
 * @param begin  receives where it begins. @param why  receives the mistake, if any */
qp_taken qp_config_word(const char **at, const char *end, char *to, size_t room,
                        const char **begin, const char **why);

/* The next word of the statement, which must be there if `expected` is not NULL. */
qp_taken qp_config_take(qp_config_reader *r, const char *expected, qp_config_text *word);

/* Nothing but a comment may follow. @return QP_NO_MORE or QP_MISTAKE */
qp_taken qp_config_end(qp_config_reader *r);

/* Which of the words, separated by '|'. The error names them as expected. */
qp_taken qp_config_choose(qp_config_reader *r, const qp_config_text *word, const char *words,
                          unsigned *which);

/* The next word, which must be one of these. */
qp_taken qp_config_take_one(qp_config_reader *r, const char *words, unsigned *which);

/* All of a text is a number, decimal or 0x... */
bool qp_config_number(const char *text, uint64_t *number);
bool qp_config_integer(const char *text, int64_t *number);

/* A KEY=VALUE of a statement: VALUE goes into the field at `offset` of its structure. No pointers, each
 * of which costs a relocation. */
typedef struct qp_config_key {
    char name[13];
    uint8_t how, what; /* for the function that takes values */
    uint16_t offset;
} qp_config_key;

typedef qp_taken qp_config_take_value(qp_config_reader *r, const qp_config_text *value,
                                      void *field);

/* All KEY=VALUE up to the end of the statement or, if there may be a list, up to its ':'.
 * @return QP_TAKEN: there is a ':'; QP_NO_MORE; QP_MISTAKE */
qp_taken qp_config_keys(qp_config_reader *r, const qp_config_key *keys, unsigned n_keys,
                        qp_config_take_value *take, bool has_list, void *object);

/* The name of an object: the next word. */
qp_taken qp_config_take_name(qp_config_reader *r, const char **name);

#endif
