/* page.c: see page.h. */
#include "export/page/page.h"

#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/text.h"
#include "model/figures/figures.h"

bool qp_page_is_there(const qp_page *page, qp_error *error)
{
    if (!page->script.text)
        qp_error_fail(error,
                      "this build of qprof has no HTML pages: install nodejs and npm, then "
                      "configure and build it again");
    return page->script.text != NULL;
}

void qp_page_begin(qp_out *out, const qp_page *page, const char *title)
{
    qp_out_bytes(out, page->head.text, page->head.n_bytes);
    qp_out_format(out, QP_PAGE_MARK "<title>%s</title>", title);
    qp_out_bytes(out, page->style.text, page->style.n_bytes);
    qp_out_text(out, "</head>\n<body>\n");
}

void qp_page_script(qp_out *out, const qp_page *page)
{
    qp_out_bytes(out, page->script.text, page->script.n_bytes);
    qp_out_char(out, '\n');
}

void qp_page_end(qp_out *out)
{
    qp_out_text(out, "</body>\n</html>\n");
}

void qp_page_block(qp_out *out, const char *id)
{
    qp_out_format(out, "<script type=\"application/json\" id=\"%s\">", id);
}

void qp_page_block_of(qp_out *out, char kind, size_t number)
{
    qp_out_format(out, "<script type=\"application/json\" id=\"%c%zu\">", kind, number);
}

void qp_page_block_end(qp_out *out)
{
    qp_out_text(out, "</script>\n");
}

void qp_page_text(qp_out *out, const char *text)
{
    qp_text_script(out, text, strlen(text));
}

void qp_page_texts(qp_out *out, bool is_more, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_more || i)
            qp_out_char(out, ',');
        qp_page_text(out, texts[i]);
    }
}

void qp_page_numbers(qp_out *out, bool is_more, const uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        qp_out_format(out, is_more || i ? ",%" PRIu64 : "%" PRIu64, numbers[i]);
}

void qp_page_table(qp_out *out, const char *key)
{
    qp_out_format(out, ",\"%s\":[", key);
}

void qp_page_row(qp_out *out, bool is_more)
{
    qp_out_text(out, is_more ? ",\n[" : "[");
}

void qp_page_close(qp_out *out)
{
    qp_out_char(out, ']');
}

void qp_page_list(qp_out *out, const char *key, const char *const *texts, size_t n)
{
    qp_page_table(out, key);
    qp_page_texts(out, false, texts, n);
    qp_page_close(out);
}

bool qp_page_name(qp_out *out, const char *name)
{
    size_t room = strlen(name) * 4 + 1; /* "\xNN" for a byte is the longest */
    char *safe = qp_alloc(room, 1);
    if (!safe)
        return false;
    qp_text_terminal(safe, room, name, NULL);
    qp_text_xml(out, safe);
    qp_free(safe);
    return true;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* May the page have a text once more, under another name? */
static bool may_repeat(const qp_source *s, const qp_page_sources *sources)
{
    enum { REPEATED_MAX = 16 << 20 }; /* bytes */
    if (!sources->seen || !qp_dict_get(sources->seen, s->file_id))
        return !sources->seen || qp_dict_put(sources->seen, s->file_id, 1);
    *sources->n_repeated += s->n_bytes;
    return *sources->n_repeated <= REPEATED_MAX;
}

static bool read_source(qp_source *s, const qp_page_file *f, const qp_page_sources *sources,
                        qp_error *why)
{
    if (sources->are_left_out)
        return qp_error_fail(why, "%.300s: sources were left out", f->file);
    bool is_there = qp_source_read(f->file, f->digest, &sources->folders, s, why);
    if (is_there && !may_repeat(s, sources)) {
        qp_source_fini(s);
        is_there = qp_error_fail(why, "%.300s: its text is here under another name", f->file);
    }
    if (sources->note)
        sources->note(sources->to, is_there ? s->path : f->file,
                      !is_there                ? QP_TEXT_MISSING
                      : !f->digest             ? QP_TEXT_UNKNOWN
                      : f->digest == s->digest ? QP_TEXT_RECORDED
                                               : QP_TEXT_CHANGED,
                      is_there ? "" : why->text);
    return is_there;
}

void qp_page_source(qp_out *out, const qp_page_file *f, const qp_page_sources *sources)
{
    qp_source s;
    qp_error why;
    bool is_there = read_source(&s, f, sources, &why);
    qp_out_text(out, "{\"missing\":");
    qp_page_text(out, is_there ? "" : why.text);
    qp_out_format(out, ",\"changed\":%s,\"lines\":[",
                  is_there && f->digest && f->digest != s.digest ? "true" : "false");
    for (uint32_t i = 0; is_there && i < s.n_lines; i++) {
        if (i)
            qp_out_char(out, ',');
        qp_text_script(out, s.lines[i], s.line_bytes[i]);
    }
    qp_out_text(out, "]}");
    if (is_there)
        qp_source_fini(&s);
}
