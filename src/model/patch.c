/* patch.c: reading a unified diff. Read take_line first: the counts in a hunk's head say which
 * lines are content, so that content may look like anything. */
#include "model/patch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"

enum { PATH_BYTES = 4096 };

struct qp_patch_private {
    qp_patch patch; /* what the caller sees */
    qp_arena arena;
    qp_buf files;
};

/* Reading a patch. */
typedef struct {
    struct qp_patch_private *own;
    uint32_t line;               /* of the patch */
    uint64_t old_left, new_left; /* lines that the hunk still has on each side */
    uint64_t at;                 /* line of the new text */
    char old_path[PATH_BYTES];
    bool has_old;  /* "---" came, "+++" must follow */
    bool has_file; /* hunks belong to the last file */
    qp_buf spans;  /* of that file */
    char *error;
} reading;

/* A line of the patch, without its end. */
typedef struct {
    const char *text;
    size_t n_bytes;
} part;

static bool fail(reading *r, const char *what)
{
    qp_text_format(r->error, QP_ERROR_BYTES, "line %u of the patch: %s", r->line, what);
    return false;
}

static bool begins_with(part l, const char *word)
{
    size_t n = strlen(word);
    return l.n_bytes >= n && memcmp(l.text, word, n) == 0;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static unsigned char escaped(char c)
{
    static const char names[] = "abtnvfr", codes[] = "\a\b\t\n\v\f\r";
    const char *at = c ? strchr(names, c) : NULL;
    return (unsigned char)(at ? codes[at - names] : c);
}

/* A path between quotes, with the escapes of C. @return false: the second quote is missing */
static bool unquote(part l, char *to)
{
    size_t n = 0;
    for (size_t i = 1; i < l.n_bytes && l.text[i] != '"'; i++) {
        unsigned char c = (unsigned char)l.text[i];
        if (c == '\\' && i + 1 < l.n_bytes) {
            c = (unsigned char)l.text[++i];
            unsigned code = 0, n_digits = 0;
            while (n_digits < 3 && i < l.n_bytes && l.text[i] >= '0' && l.text[i] <= '7') {
                code = code * 8 + (unsigned)(l.text[i++] - '0');
                n_digits++;
            }
            i -= n_digits > 0;
            c = n_digits ? (unsigned char)code : escaped((char)c);
        }
        to[n++] = (char)c;
        if (n == PATH_BYTES - 1)
            return false;
    }
    to[n] = '\0';
    return l.n_bytes > 1 && memchr(l.text + 1, '"', l.n_bytes - 1);
}

/* What follows "--- " or "+++ "; a tab separates a time. */
static bool take_path(reading *r, part l, char *to)
{
    const char *tab = memchr(l.text, '\t', l.n_bytes);
    size_t n = tab ? (size_t)(tab - l.text) : l.n_bytes;
    if (l.n_bytes && l.text[0] == '"')
        return unquote(l, to) || fail(r, "the path's quotes are not closed, or it is too long");
    if (!n || n >= PATH_BYTES)
        return fail(r, n ? "the path is too long" : "there is no path");
    memcpy(to, l.text, n);
    to[n] = '\0';
    return true;
}

static bool is_nothing(const char *path)
{
    return strcmp(path, "/dev/null") == 0;
}

/* "a/" and "b/", or what git writes with mnemonic prefixes. */
static bool has_prefix(const char *path)
{
    return path[0] && strchr("abciow", path[0]) && path[1] == '/' && path[2];
}

/* Both sides have a prefix, not the same one; where a side is nothing, the other's is the usual. */
static size_t prefix_bytes(const char *old_path, const char *new_path)
{
    enum { PREFIX = 2 };
    if (is_nothing(old_path))
        return has_prefix(new_path) && new_path[0] != 'a' ? PREFIX : 0;
    if (is_nothing(new_path))
        return has_prefix(old_path) && old_path[0] != 'b' ? PREFIX : 0;
    return has_prefix(old_path) && has_prefix(new_path) && old_path[0] != new_path[0] ? PREFIX
                                                                                      : 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool end_file(reading *r)
{
    if (!r->has_file)
        return true;
    struct qp_patch_private *own = r->own;
    qp_patch_file *f = (qp_patch_file *)own->files.items + own->files.n - 1;
    f->n_spans = r->spans.n;
    f->spans = qp_arena_copy(&own->arena, r->spans.items, r->spans.n, sizeof(qp_patch_span));
    r->spans.n = 0;
    r->has_file = false;
    return f->spans && !r->spans.failed;
}

static bool begin_file(reading *r, part l)
{
    char path[PATH_BYTES];
    if (!end_file(r) || !take_path(r, l, path))
        return false;
    bool is_gone = is_nothing(path);
    size_t n_prefix = prefix_bytes(r->old_path, path);
    const char *shown = (is_gone ? r->old_path : path) + n_prefix;
    qp_patch_file *f = qp_buf_add(&r->own->files);
    if (f)
        *f = (qp_patch_file){.path = qp_arena_text(&r->own->arena, shown), .is_gone = is_gone};
    r->has_old = false;
    r->has_file = f && f->path;
    return r->has_file;
}

/* ---- hunks ----------------------------------------------------------------------------------- */

/* "12" or "12,3" behind a sign. @return false: neither */
static bool take_numbers(part *l, char sign, uint64_t *first, uint64_t *n)
{
    uint64_t *to = first;
    size_t i = 0, n_digits = 0;
    *first = 0;
    *n = 1;
    if (!l->n_bytes || l->text[i++] != sign)
        return false;
    for (; i < l->n_bytes; i++) {
        char c = l->text[i];
        if (c == ',' && to == first && n_digits) {
            to = n;
            *n = n_digits = 0;
        } else if (c >= '0' && c <= '9' && *to < UINT32_MAX) {
            *to = *to * 10 + (uint64_t)(c - '0');
            n_digits++;
        } else {
            break;
        }
    }
    l->text += i;
    l->n_bytes -= i;
    return n_digits && *first < UINT32_MAX && *n < UINT32_MAX;
}

static bool begin_hunk(reading *r, part l)
{
    uint64_t old_first;
    part rest = {l.text + 3, l.n_bytes - 3};
    bool is_good = take_numbers(&rest, '-', &old_first, &r->old_left);
    if (is_good && rest.n_bytes && *rest.text == ' ')
        rest = (part){rest.text + 1, rest.n_bytes - 1};
    is_good = is_good && take_numbers(&rest, '+', &r->at, &r->new_left);
    if (!is_good || !begins_with(rest, " @@"))
        return fail(r, "it begins like a hunk, \"@@ -1,2 +3,4 @@\", and is none");
    if (!r->has_file)
        return fail(r, "a hunk before the name of a file");
    return true;
}

static bool add_line(reading *r)
{
    qp_patch_span *last = r->spans.n ? (qp_patch_span *)r->spans.items + r->spans.n - 1 : NULL;
    uint32_t line = r->at < UINT32_MAX ? (uint32_t)r->at : UINT32_MAX;
    if (last && line <= last->last)
        return fail(r, "its hunks are not in ascending order");
    if (last && last->last + 1 == line) {
        last->last = line;
        return true;
    }
    qp_patch_span *fresh = line ? qp_buf_add(&r->spans) : NULL;
    if (fresh)
        *fresh = (qp_patch_span){line, line};
    return fresh || (!line && fail(r, "a line 0"));
}

/* A line of content. An empty one is an empty line of context whose blank was lost on the way. */
static bool take_content(reading *r, part l)
{
    char sign = l.n_bytes ? l.text[0] : ' ';
    if (sign == '\\') /* no newline at the end of the file */
        return true;
    bool is_old = sign == '-' || sign == ' ', is_new = sign == '+' || sign == ' ';
    if ((!is_old && !is_new) || (is_old && !r->old_left) || (is_new && !r->new_left))
        return fail(r, "the hunk ends before its lines have come");
    if (sign == '+' && !add_line(r))
        return false;
    r->old_left -= is_old;
    r->new_left -= is_new;
    r->at += is_new;
    return true;
}

static bool take_line(reading *r, part l)
{
    if (r->old_left || r->new_left)
        return take_content(r, l);
    if (r->has_old && !begins_with(l, "+++ "))
        return fail(r, "\"+++\" is wanted behind \"---\"");
    if (r->has_old)
        return begin_file(r, (part){l.text + 4, l.n_bytes - 4});
    if (begins_with(l, "--- ")) {
        r->has_old = true;
        return take_path(r, (part){l.text + 4, l.n_bytes - 4}, r->old_path);
    }
    if (begins_with(l, "@@ "))
        return begin_hunk(r, l);
    if (begins_with(l, "@@@"))
        return fail(r, "a combined diff of a merge is not understood: compare with one parent");
    return true; /* "diff --git", "index", a message: of no interest */
}

qp_patch *qp_patch_read(const char *text, size_t n_bytes, char error[QP_ERROR_BYTES])
{
    struct qp_patch_private *own = qp_alloc_zeroed(1, sizeof *own);
    reading *r = qp_alloc_zeroed(1, sizeof *r);
    error[0] = '\0';
    bool is_ok = own && r;
    if (own)
        own->patch.own = own;
    if (is_ok) {
        qp_buf_init(&own->files, sizeof(qp_patch_file));
        qp_buf_init(&r->spans, sizeof(qp_patch_span));
        r->own = own;
        r->error = error;
    }
    for (size_t at = 0; is_ok && at < n_bytes;) {
        const char *newline = memchr(text + at, '\n', n_bytes - at);
        size_t length = newline ? (size_t)(newline - text) - at : n_bytes - at;
        bool has_return = length && text[at + length - 1] == '\r';
        r->line++;
        is_ok = take_line(r, (part){text + at, length - has_return});
        at += length + 1;
    }
    if (is_ok && (r->old_left || r->new_left))
        is_ok = fail(r, "the patch ends inside a hunk");
    is_ok = is_ok && end_file(r);
    if (r)
        qp_free(r->spans.items);
    qp_free(r);
    if (is_ok) {
        own->patch.files = own->files.items;
        own->patch.n_files = own->files.n;
        return &own->patch;
    }
    if (!error[0])
        qp_text_format(error, QP_ERROR_BYTES, "there is not enough memory to read the patch");
    qp_patch_free(own ? &own->patch : NULL);
    return NULL;
}

void qp_patch_free(qp_patch *p)
{
    if (!p)
        return;
    struct qp_patch_private *own = p->own;
    qp_free(own->files.items);
    qp_arena_fini(&own->arena);
    qp_free(own);
}
