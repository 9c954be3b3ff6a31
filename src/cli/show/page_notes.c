/* page_notes.c: prints which sources a page has, before it is shared. Read print_sources first. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/unit.h"
#include "cli/show/show.h"

static void note_source(void *to, const char *path, qp_text_state state, const char *why)
{
    qp_page_notes *notes = to;
    char **name = qp_buf_add(&notes->names[state]);
    if (name)
        *name = qp_alloc_text(state == QP_TEXT_MISSING ? why : path);
}

qp_page_sources qp_page_notes_begin(const qp_cli *cli, qp_page_notes *notes)
{
    *notes = (qp_page_notes){0};
    for (size_t i = 0; i < sizeof notes->names / sizeof *notes->names; i++)
        notes->names[i] = QP_BUF(char *);
    return (qp_page_sources){.folders = cli->args.folders,
                             .are_left_out = cli->args.has_no_sources,
                             .note = note_source,
                             .to = notes,
                             .seen = &notes->seen,
                             .n_repeated = &notes->n_repeated};
}

static int by_text(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    return strcmp(x ? x : "", y ? y : "");
}

static void print_names(const qp_cli *cli, const qp_buf *names, size_t most)
{
    char count[QP_NUMBER_BYTES], **name = names->items;
    if (names->n)
        qsort(names->items, names->n, sizeof *name, by_text);
    for (size_t i = 0; i < names->n && i < most; i++) {
        qp_out_text(cli->screen.out, "  ");
        qp_screen_name(&cli->screen, name[i] ? name[i] : "?", 0);
        qp_out_char(cli->screen.out, '\n');
    }
    if (names->n > most)
        qp_out_format(cli->screen.out, "  and %s more\n",
                      qp_unit_count(count, names->n - most));
}

/* What was recorded is the program's own. All others are named, because all readers of the page see them. */
static void print_sources(const qp_cli *cli, const qp_page_notes *notes)
{
    enum { MISSING_NAMED = 5 };
    char n[QP_NUMBER_BYTES];
    const qp_buf *of = notes->names;
    qp_out *out = cli->screen.out;
    if (of[QP_TEXT_RECORDED].n)
        qp_out_format(out,
                      "It has the text of %s, as recorded (--no-sources leaves texts out)\n",
                      qp_unit_things(n, of[QP_TEXT_RECORDED].n, "source"));
    if (of[QP_TEXT_UNKNOWN].n) {
        qp_out_format(out,
                      "It has the text of %s, whether or not it is what was recorded; check "
                      "before you share it (--no-sources leaves texts out):\n",
                      qp_unit_things(n, of[QP_TEXT_UNKNOWN].n, "source"));
        print_names(cli, &of[QP_TEXT_UNKNOWN], SIZE_MAX);
    }
    if (of[QP_TEXT_CHANGED].n) {
        qp_out_format(
            out, "It has the text of %s, changed since the run; check before you share it:\n",
            qp_unit_things(n, of[QP_TEXT_CHANGED].n, "source"));
        print_names(cli, &of[QP_TEXT_CHANGED], SIZE_MAX);
    }
    if (of[QP_TEXT_MISSING].n) {
        qp_out_format(out, "It lacks the text of %s (--source-path=DIR searches a folder):\n",
                      qp_unit_things(n, of[QP_TEXT_MISSING].n, "source"));
        print_names(cli, &of[QP_TEXT_MISSING], MISSING_NAMED);
    }
}

static void print_beside(const qp_cli *cli, const qp_page_notes *notes)
{
    char all[QP_NUMBER_BYTES], lacking[QP_NUMBER_BYTES];
    const qp_buf *of = notes->names;
    size_t n = of[QP_TEXT_RECORDED].n + of[QP_TEXT_UNKNOWN].n + of[QP_TEXT_CHANGED].n;
    if (n || of[QP_TEXT_MISSING].n)
        qp_cli_warn(cli, "the page has the text of %s, and lacks %s (-o FILE: which ones)",
                    qp_unit_things(all, n, "source"),
                    qp_unit_count(lacking, of[QP_TEXT_MISSING].n));
}

void qp_page_notes_end(const qp_cli *cli, const char *page, bool is_written,
                       qp_page_notes *notes)
{
    const qp_buf *of = notes->names;
    if (is_written && qp_output_is_standard(page))
        print_beside(cli, notes);
    else if (is_written)
        print_sources(cli, notes);
    for (size_t state = 0; state < sizeof notes->names / sizeof *notes->names; state++) {
        char **name = of[state].items;
        for (size_t i = 0; i < of[state].n; i++)
            qp_free(name[i]);
        qp_free(name);
    }
    qp_dict_fini(&notes->seen);
}
