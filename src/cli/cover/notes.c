/* notes.c: missed lines as annotations that a CI shows beside the source. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/dict.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include "cli/cover/cover.h"

/* One note, about lines first to last of a file. */
typedef struct {
    const char *path, *check, *text;
    uint32_t first, last;
} note;

typedef struct {
    qp_out *out;
    qp_notes_form form;
    qp_json json; /* of GitLab */
    qp_cover_wants *wants;
    const void *data;
} writer;

/* Write the value of a property with GitHub's escapes, and control characters as on a terminal. */
static void write_property(qp_out *out, const char *text)
{
    size_t rest = strlen(text);
    while (rest > 0) {
        char piece[8], shown[64];
        uint32_t code;
        size_t n = qp_text_char(text, rest, &code);
        memcpy(piece, text, n);
        piece[n] = '\0';
        qp_text_terminal(shown, sizeof shown, piece, NULL);
        if (code < 0x80 && strchr("%\r\n:,", (int)code))
            qp_out_format(out, "%%%02X", (unsigned)code);
        else
            qp_out_text(out, shown);
        text += n;
        rest -= n;
    }
}

static void write_github(qp_out *out, const note *n)
{
    qp_out_text(out, "::warning file=");
    write_property(out, n->path);
    qp_out_format(out, ",line=%" PRIu32 ",endLine=%" PRIu32 ",title=Coverage::%s\n", n->first,
                  n->last, n->text);
}

/* The same finding has the same fingerprint in the next run. */
static void write_gitlab(qp_json *json, const note *n)
{
    char fingerprint[32];
    uint64_t hash = qp_hash_bytes(QP_HASH_START, n->path, strlen(n->path));
    hash = qp_hash_bytes(hash, n->check, strlen(n->check) + 1);
    hash = qp_hash_bytes(hash, n->text, strlen(n->text));
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, hash);
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "description", n->text);
    qp_json_text(json, "check_name", n->check);
    qp_json_text(json, "fingerprint", fingerprint);
    qp_json_text(json, "severity", "minor");
    qp_json_begin(json, "location", '{');
    qp_json_text(json, "path", n->path);
    qp_json_begin(json, "lines", '{');
    qp_json_count(json, "begin", n->first);
    qp_json_count(json, "end", n->last);
    qp_json_end(json, '}');
    qp_json_end(json, '}');
    qp_json_end(json, '}');
}

static void write_note(writer *w, const note *n)
{
    if (w->form == QP_NOTES_GITHUB) {
        write_github(w->out, n);
    } else if (w->form == QP_NOTES_GITLAB) {
        write_gitlab(&w->json, n);
    } else {
        qp_text_line(w->out, n->path, "");
        qp_out_format(w->out, ":%" PRIu32 ": %s\n", n->first, n->text);
    }
}

static void write_range(void *to, const qp_cover_file *f, uint32_t first, uint32_t last)
{
    char text[96];
    if (first == last)
        snprintf(text, sizeof text, "line %" PRIu32 " was never executed", first);
    else
        snprintf(text, sizeof text, "lines %" PRIu32 " to %" PRIu32 " were never executed",
                 first, last);
    write_note(to, &(note){.path = f->path,
                           .check = "missed-lines",
                           .text = text,
                           .first = first,
                           .last = last});
}

static bool is_wanted(const void *data, const qp_cover_file *f, size_t line)
{
    const writer *w = data;
    return qp_cover_is_missed(NULL, f, line) && (!w->wants || w->wants(w->data, f, line));
}

static void write_branches(writer *w, const qp_cover_file *f, uint32_t line)
{
    char text[96];
    const qp_cover_line *l = &f->lines[line];
    if (l->annotation != QP_ANNOTATION_NONE || (w->wants && !w->wants(w->data, f, line)))
        return;
    for (uint32_t i = 0; i < l->n_branches; i++) {
        const qp_cover_branch *b = &f->branches[l->first_branch + i];
        if (!qp_cover_is_way_missed(b))
            continue;
        qp_cover_way_text(b, text, sizeof text);
        write_note(w, &(note){.path = f->path,
                              .check = "missed-branch",
                              .text = text,
                              .first = l->line,
                              .last = l->line});
    }
}

void qp_cover_notes(qp_cli *cli, const qp_cover *c, qp_cover_wants *wants, const void *data)
{
    qp_out *out = &cli->out;
    qp_notes_form form = (qp_notes_form)cli->args.cover.annotations;
    writer w = {.out = out, .form = form, .wants = wants, .data = data};
    if (form == QP_NOTES_GITLAB) {
        qp_json_init(&w.json, out);
        qp_json_begin(&w.json, NULL, '[');
    }
    for (size_t i = 0; i < c->n_files; i++) {
        const qp_cover_file *f = &c->files[i];
        qp_cover_each_range(f, is_wanted, &w, write_range, &w);
        for (uint32_t line = 0; line < f->n_lines; line++)
            write_branches(&w, f, line);
    }
    if (form == QP_NOTES_GITLAB)
        qp_json_end(&w.json, ']');
}

bool qp_cover_notes_are_alone(const qp_cli *cli)
{
    bool are_two = cli->args.cover.annotations && cli->args.format != QP_FORMAT_TEXT;
    if (are_two)
        qp_cli_fail(cli, "--annotations and --format cannot be combined");
    return !are_two;
}
