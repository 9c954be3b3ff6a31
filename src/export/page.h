/* page.h: HTML reports: their fixed parts, made from web/ when the tool is built, and what writers
 * put between them.
 *
 * A report is: head, title, style, </head><body>, what readers without JavaScript see, blocks that
 * the first picture needs, script, more blocks, </body></html>. Numbers, and texts that
 * qp_text_script(), qp_text_xml() and qp_page_name() escape, are all that a profile puts in. */
#ifndef QP_EXPORT_PAGE_H
#define QP_EXPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

typedef struct {
    const char *text; /* ASCII, no NUL at its end */
    size_t n_bytes;
} qp_page_part;

typedef struct {
    qp_page_part head, style, script; /* text NULL: this build has no pages */
} qp_page;

extern const qp_page qp_page_cover, qp_page_profile;

/* @param error  [room] one line: how to get a tool with pages @return false: this one has none */
bool qp_page_is_there(const qp_page *page, char *error, size_t room);

/* Up to <body>. */
void qp_page_begin(qp_out *out, const qp_page *page, const char *title);
void qp_page_script(qp_out *out, const qp_page *page);
void qp_page_end(qp_out *out);

/* A block of JSON: the page finds it by its id, a constant. */
void qp_page_block(qp_out *out, const char *id);
void qp_page_block_of(qp_out *out, char kind, size_t number); /* id: kind and number */
void qp_page_block_end(qp_out *out);

/* In a block: a text with its quotes; a number, after a comma if is_more. */
void qp_page_text(qp_out *out, const char *text);
void qp_page_number(qp_out *out, bool is_more, uint64_t n);
/* ,"key":["text",...] */
void qp_page_texts(qp_out *out, const char *key, const char *const *texts, size_t n);

/* In markup: a name as on a terminal, controls and turned writing directions spelled out.
 * @return false: no memory */
bool qp_page_name(qp_out *out, const char *name);

#endif
