/* page.h: HTML reports: their fixed parts, made from web/ when the tool is built, and what writers
 * put between them.
 *
 * A report is: head, title, style, </head><body>, what readers without JavaScript see, blocks that
 * the first picture needs, script, more blocks, </body></html>. A profile adds only numbers, and texts
 * that qp_text_script(), qp_text_xml() or qp_page_name() has escaped. */
#ifndef QP_EXPORT_PAGE_PAGE_H
#define QP_EXPORT_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"
#include "base/text/out.h"
#include "export/shared/profile.h"

typedef struct {
    const char *text; /* ASCII, no NUL at its end */
    size_t n_bytes;
} qp_page_part;

typedef struct {
    qp_page_part head, style, script; /* text NULL: this build has no pages */
} qp_page;

/* In the head of every page, by which the tool knows its own. */
#define QP_PAGE_MARK "<meta name=\"generator\" content=\"qprof\">"

extern const qp_page qp_page_cover, qp_page_profile, qp_page_store;

/* @param error  [room] one line: how to get a tool with pages @return false: this one has none */
bool qp_page_is_there(const qp_page *page, qp_error *error);

/* Up to <body>. */
void qp_page_begin(qp_out *out, const qp_page *page, const char *title);
void qp_page_script(qp_out *out, const qp_page *page);
void qp_page_end(qp_out *out);

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A block of JSON: the page finds it by its id, a constant. */
void qp_page_block(qp_out *out, const char *id);
void qp_page_block_of(qp_out *out, char kind, size_t number); /* id: kind and number */
void qp_page_block_end(qp_out *out);

/* A text with its quotes. */
void qp_page_text(qp_out *out, const char *text);
/* Texts, or numbers, with commas between them, and one before them if is_more. */
void qp_page_texts(qp_out *out, bool is_more, const char *const *texts, size_t n);
void qp_page_numbers(qp_out *out, bool is_more, const uint64_t *numbers, size_t n);
static inline void qp_page_number(qp_out *out, bool is_more, uint64_t n)
{
    qp_page_numbers(out, is_more, &n, 1);
}
#define QP_PAGE_TEXTS(out, is_more, ...)                                                       \
    qp_page_texts(out, is_more, (const char *const[]){__VA_ARGS__},                            \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define QP_PAGE_NUMBERS(out, is_more, ...)                                                     \
    qp_page_numbers(out, is_more, (const uint64_t[]){__VA_ARGS__},                             \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* ,"key":[ before the rows of a table; each row begins with [ on a line of its own. */
void qp_page_table(qp_out *out, const char *key);
void qp_page_row(qp_out *out, bool is_more);
void qp_page_close(qp_out *out); /* a row, or a table */
/* ,"key":["text",...] */
void qp_page_list(qp_out *out, const char *key, const char *const *texts, size_t n);

/* ---- markup and sources ---------------------------------------------------------------------- */

/* In markup: a name as on a terminal, controls and turned writing directions spelled out.
 * @return false: no memory */
bool qp_page_name(qp_out *out, const char *name);

typedef struct {
    const char *shown; /* relative if it lies below the root */
    const char *file;  /* as the profile names it */
    uint64_t digest;   /* of the text that was recorded; 0: not known */
} qp_page_file;

/** Write {"missing":why not,"changed":since it was recorded,"lines":[text,...]}. */
void qp_page_source(qp_out *out, const qp_page_file *f, const qp_page_sources *sources);

#endif
