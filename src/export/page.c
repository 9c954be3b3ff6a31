/* page.c: see page.h. */
#include "export/page.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"

bool qp_page_is_there(const qp_page *page, char *error, size_t room)
{
    if (!page->script.text)
        qp_text_format(error, room,
                       "this build of qprof has no HTML pages: install nodejs and npm, then "
                       "configure and build it again");
    return page->script.text != NULL;
}

void qp_page_begin(qp_out *out, const qp_page *page, const char *title)
{
    qp_out_bytes(out, page->head.text, page->head.n_bytes);
    qp_out_format(out, "<title>%s</title>", title);
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

void qp_page_number(qp_out *out, bool is_more, uint64_t n)
{
    qp_out_format(out, is_more ? ",%" PRIu64 : "%" PRIu64, n);
}

void qp_page_texts(qp_out *out, const char *key, const char *const *texts, size_t n)
{
    qp_out_format(out, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        if (i)
            qp_out_char(out, ',');
        qp_page_text(out, texts[i]);
    }
    qp_out_char(out, ']');
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
