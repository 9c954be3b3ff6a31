/* text.h: names of unknown origin, made safe for where they are shown. */
#ifndef QP_BASE_TEXT_TEXT_H
#define QP_BASE_TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/out.h"

/* One character of UTF-8 at `bytes`, `n_bytes` > 0 of them left.
 * @param code  its code point; UINT32_MAX: the first byte begins no valid character
 * @return bytes taken, >= 1 */
size_t qp_text_char(const char *bytes, size_t n_bytes, uint32_t *code);

/* Terminal: control characters (C0, DEL, C1), characters that turn the writing direction and
 * invalid bytes as \xNN or \u{NNNN}, all others as they are.
 * @param to      [room] receives text and NUL; cut at a whole character if it does not fit
 * @param width   receives the columns it takes; may be NULL
 * @return bytes written, without the NUL */
size_t qp_text_terminal(char *to, size_t room, const char *text, size_t *width);

/* n bytes of a name for one line of a terminal or a log, cut to the room, with '?' for each control
 * character. @return to */
char *qp_plain(const char *name, size_t n, char *to, size_t room);

/* Columns that a text made by qp_text_terminal() takes. */
size_t qp_text_width(const char *text);

/* The longest end (is_end) or beginning of text that takes at most `width` columns, with "..." in
 * place of the rest if something is left out. @param to [room] */
void qp_text_fit(char *to, size_t room, const char *text, size_t width, int is_end);

/* A part of a line of text for programs: controls, characters that turn the writing direction and
 * invalid bytes as for the terminal, those in `special` as \xNN. */
void qp_text_line(qp_out *out, const char *text, const char *special);

/* Text or attribute of XML and HTML: & < > " ' as entities; what XML 1.0 does not allow as U+FFFD,
 * tab and line ends as character references. */
void qp_text_xml(qp_out *out, const char *text);

/* JSON, with its quotes: controls as \u00XX, invalid bytes as U+FFFD. */
void qp_text_json(qp_out *out, const char *text);

/* The same inside a script element of a page, of a text that may hold NUL: < > & and the
 * separators of lines and paragraphs as \uXXXX. */
void qp_text_script(qp_out *out, const char *text, size_t n_bytes);

/* Would a spreadsheet read it as a formula? A ' before it makes it a text. */
int qp_text_is_formula(const char *text);

/* CSV field, quoted; a ' before a formula. Control characters and invalid bytes as U+FFFD; tabs and
 * line ends stay. */
void qp_text_csv(qp_out *out, const char *text);

#endif
