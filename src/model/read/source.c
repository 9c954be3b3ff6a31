/* source.c: finding and reading the sources that a profile names. */
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "base/os/file.h"
#include "base/text/buf.h"
#include "model/model.h"
#include "model/read/read.h"

enum { SOURCE_MAX = 1 << 28 };

/* Open FOLDER/FILE, with all and then ever fewer of the file's leading folders. @return
 * descriptor or -1 */
static int open_below(const char *folder, size_t folder_bytes, const char *file, char *path)
{
    const char *why;
    for (const char *rest = file; rest; rest = strchr(rest, '/')) {
        rest += strspn(rest, "/");
        qp_text_format(path, QP_SOURCE_PATH_BYTES, "%.*s/%s", (int)folder_bytes, folder, rest);
        int fd = *rest ? qp_file_open(path, &why) : -1;
        if (fd >= 0)
            return fd;
    }
    return -1;
}

int qp_source_open(const char *file, const char *source_path, char path[QP_SOURCE_PATH_BYTES],
                   const char **why)
{
    qp_text_format(path, QP_SOURCE_PATH_BYTES, "%s", file);
    int fd = qp_file_open(path, why);
    for (const char *folder = source_path; fd < 0 && folder && *folder;) {
        size_t n_bytes = strcspn(folder, ":");
        if (n_bytes && n_bytes < QP_SOURCE_PATH_BYTES)
            fd = open_below(folder, n_bytes, file, path);
        folder += n_bytes + (folder[n_bytes] == ':');
    }
    return fd;
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

bool qp_source_read(const char *file, const char *source_path, qp_source *out, qp_error *error)
{
    char path[QP_SOURCE_PATH_BYTES];
    const char *why = "";
    *out = (qp_source){0};
    error->text[0] = '\0';
    int fd = file[0] ? qp_source_open(file, source_path, path, &why) : -1;
    bool is_ok = fd >= 0 && read_text(out, fd, &why);
    if (fd >= 0)
        close(fd);
    out->path = is_ok ? qp_alloc_text(path) : NULL;
    if (out->path)
        return true;
    qp_error_fail(error, "%.300s: %s", file, file[0] ? why : "the method has no source file");
    qp_source_fini(out);
    return false;
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
