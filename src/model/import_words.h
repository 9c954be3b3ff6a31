/* import_words.h: lines of text and the words in them, from bytes of unknown origin. */
#ifndef QP_MODEL_IMPORT_WORDS_H
#define QP_MODEL_IMPORT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QP_WORD_BYTES = 64 };

/* What is left of a line, or of a text. */
typedef struct {
    const char *at, *end;
} qp_words;

/* How many bytes of it to print, at most. */
static inline int qp_words_cut(qp_words w, int most)
{
    return w.end - w.at < most ? (int)(w.end - w.at) : most;
}

void qp_words_skip(qp_words *w); /* blanks */
bool qp_words_begin(const qp_words *w, const char *text);
/* A number, decimal or 0x. @return false: there is none, or it is beyond 64 bits */
bool qp_words_number(qp_words *w, uint64_t *n);
/* The next word, cut off if it is long. @return false: there is none */
bool qp_words_next(qp_words *w, char to[QP_WORD_BYTES]);
/* The next line, without its end and blanks around it. @return false: there is none */
bool qp_words_line(qp_words *text, qp_words *line);

#endif
