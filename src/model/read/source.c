/* source.c: finding and reading the sources that a profile names. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/os/file.h"
#include "base/text/buf.h"
#include "model/model.h"
#include "model/read/read.h"

enum { SOURCE_MAX = 1 << 28 };

/* The places where a source may lie: as it is named, then in each folder as it is named, and below the
 * folder with all and with ever fewer of its leading folders. */
typedef struct {
    const char *file;
    const char *folders, *last; /* what follows: of a list, and one more */
    const char *root; /* [root_bytes] the folder in which it must lie; NULL: not begun */
    size_t root_bytes;
    const char *rest; /* of file, below the root */
    bool is_named;
    char path[QP_SOURCE_PATH_BYTES];
} places;

static const char here[] = ".";

static places places_of(const char *file, const qp_source_folders *folders)
{
    return (places){.file = file, .folders = folders->path, .last = folders->root};
}

/* @return false: there are no more */
static bool next_folder(places *p)
{
    if (!p->root) {
        p->root = here;
        p->root_bytes = 1;
        return true;
    }
    if (p->folders)
        p->folders += strspn(p->folders, ":");
    bool is_of_list = p->folders && *p->folders;
    p->root = is_of_list ? p->folders : p->last;
    if (!p->root)
        return false;
    p->root_bytes = is_of_list ? strcspn(p->root, ":") : strlen(p->root);
    if (is_of_list)
        p->folders += p->root_bytes;
    else
        p->last = NULL;
    return true;
}

/* @return false: there are no more */
static bool next_place(places *p)
{
    const char *rest = p->is_named ? p->file : p->rest ? strchr(p->rest, '/') : NULL;
    p->is_named = p->root && !rest;
    if (rest) {
        p->rest = rest + strspn(rest, "/");
        qp_text_format(p->path, sizeof p->path, "%.*s/%s", (int)p->root_bytes, p->root,
                       p->rest);
        return true;
    }
    p->rest = NULL;
    qp_text_format(p->path, sizeof p->path, "%s", p->file);
    return next_folder(p);
}

bool qp_source_is(const char *file, const qp_source_folders *folders, const struct stat *other)
{
    struct stat at;
    places p = places_of(file, folders);
    bool is_it = false;
    while (!is_it && *file && next_place(&p))
        is_it =
            stat(p.path, &at) == 0 && at.st_dev == other->st_dev && at.st_ino == other->st_ino;
    return is_it;
}

/* Whether a file that was found lies in a folder, wherever links lead. Not in the working directory: what
 * is hidden in it, and anything if that is the top of the file system. */
static bool is_inside(int found, const places *p)
{
    enum { HANDLE_BYTES = 40 };
    char handle[HANDLE_BYTES], folder[QP_SOURCE_PATH_BYTES], root[PATH_MAX],
        real[QP_SOURCE_PATH_BYTES];
    qp_text_format(handle, sizeof handle, "/proc/self/fd/%d", found);
    qp_text_format(folder, sizeof folder, "%.*s", (int)p->root_bytes, p->root);
    ssize_t n = readlink(handle, real, sizeof real - 1);
    if (n <= 0 || !realpath(folder, root))
        return false;
    real[n] = '\0';
    size_t n_root = strlen(root) - (root[1] == '\0'); /* of "/": none */
    bool is_here = p->root == here;
    return strncmp(real, root, n_root) == 0 && real[n_root] == '/' &&
           (!is_here || (n_root && !strstr(real + n_root, "/.")));
}

static bool split_lines(qp_source *s, size_t n_bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < n_bytes; i++)
        n += s->text[i] == '\n' || i + 1 == n_bytes;
    s->lines = qp_alloc(n, sizeof *s->lines);
    s->line_bytes = qp_alloc(n, sizeof *s->line_bytes);
    if (!s->lines || !s->line_bytes)
        return false;
    for (size_t at = 0; at < n_bytes; s->n_lines++) {
        const char *newline = memchr(s->text + at, '\n', n_bytes - at);
        size_t length = newline ? (size_t)(newline - s->text) - at : n_bytes - at;
        bool has_return = length && s->text[at + length - 1] == '\r';
        s->lines[s->n_lines] = s->text + at;
        s->line_bytes[s->n_lines] = (uint32_t)(length - has_return);
        at += length + 1;
    }
    return true;
}

static bool read_text(qp_source *s, int fd, const char **why)
{
    uint64_t n_bytes;
    if (!qp_file_is_plain(fd, &n_bytes, why))
        return false;
    if (n_bytes > SOURCE_MAX) {
        *why = "it is too large for a source file";
        return false;
    }
    *why = "there is not enough memory to read it";
    s->text = qp_alloc_zeroed((size_t)n_bytes + 1, 1);
    if (!s->text)
        return false;
    s->n_bytes = qp_file_read_at(fd, s->text, (size_t)n_bytes, 0);
    s->digest = qp_hash_bytes(QP_HASH_START, s->text, s->n_bytes);
    return split_lines(s, s->n_bytes);
}

/* What lies elsewhere than in its folder must be the text that was recorded.
 * @return false: see why */
static bool read_found(qp_source *out, int found, const places *p, uint64_t digest,
                       const char **why)
{
    struct stat at;
    bool is_trusted = !p->root_bytes || is_inside(found, p);
    if (!is_trusted && !digest) {
        *why = "it is not known to be the text that was recorded";
        return false;
    }
    int fd = qp_file_open_found(found, p->path, why);
    bool is_read = fd >= 0 && fstat(fd, &at) == 0 && read_text(out, fd, why);
    if (fd >= 0)
        close(fd);
    if (!is_read)
        return false;
    out->file_id = qp_hash_bytes(qp_hash_bytes(QP_HASH_START, &at.st_dev, sizeof at.st_dev),
                                 &at.st_ino, sizeof at.st_ino);
    *why = "it has changed since it was recorded";
    return is_trusted || digest == out->digest;
}

static bool read_place(qp_source *out, const places *p, uint64_t digest, const char **why)
{
    int found = qp_file_find(p->path, why);
    bool is_read = found >= 0 && read_found(out, found, p, digest, why);
    if (found >= 0)
        close(found);
    if (!is_read)
        qp_source_fini(out);
    return is_read;
}

static bool fail(const char *file, const char *why, qp_error *error)
{
    return qp_error_fail(error, "%.300s: %s", file,
                         *file ? why : "the method has no source file");
}

bool qp_source_read(const char *file, uint64_t digest, const qp_source_folders *folders,
                    qp_source *out, qp_error *error)
{
    const char *why, *first = NULL;
    places p = places_of(file, folders);
    *out = (qp_source){0};
    while (*file && next_place(&p)) {
        if (read_place(out, &p, digest, &why)) {
            out->path = qp_alloc_text(p.path);
            if (out->path)
                return true;
            qp_source_fini(out);
            why = "there is not enough memory to read it";
        }
        first = first ? first : why;
    }
    return fail(file, first, error);
}

bool qp_source_read_own(const char *file, qp_source *out, qp_error *error)
{
    const char *why = NULL;
    places p = {.file = file};
    *out = (qp_source){0};
    qp_text_format(p.path, sizeof p.path, "%s", file);
    if (*file && read_place(out, &p, 0, &why) && (out->path = qp_alloc_text(file)))
        return true;
    qp_source_fini(out);
    return fail(file, why ? why : "there is not enough memory to read it", error);
}

void qp_source_fini(qp_source *s)
{
    qp_free(s->path);
    qp_free(s->text);
    qp_free(s->lines);
    qp_free(s->line_bytes);
    *s = (qp_source){0};
}

uint64_t qp_model_digest(const qp_model *m, const char *file)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < m->own->n_texts; i++) {
        const qp_model_text *t = &m->own->texts[i];
        if (strcmp(t->path, file) != 0)
            continue;
        if (digest && digest != t->digest)
            return 0;
        digest = t->digest;
    }
    return digest;
}
