/* placed.c: which server a file of the folder was first sent to, in a hidden file of the folder: what was sent in part, or
 * whose answer is not known, is sent there again, however many servers there are by then. See push.h.
 *
 * It is a list of names and addresses, each with a NUL at its end. A pair is there before anything is sent; it is not synced:
 * after a power failure the file may go to another server, and a store counts it once from all servers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/store/push.h"

static const char list_name[] = ".sent-to", new_name[] = ".sent-to.new";
enum { LIST_BYTES = 64 << 20 };

static uint64_t hash_of(const char *name)
{
    return qp_hash_bytes(QP_HASH_START, name, strlen(name));
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

/* @return free with qp_free(); NULL: it cannot be read, or *n is 0 as there is none */
static char *read_list(const qp_spool *spool, size_t *n, bool *is_good)
{
    const char *unused;
    const int fd = openat(spool->fd, list_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *n = 0;
    *is_good = fd < 0 && errno == ENOENT;
    if (fd < 0)
        return NULL;
    char *bytes = qp_text_read(fd, LIST_BYTES, n, &unused);
    *is_good = bytes;
    close(fd);
    return bytes;
}

/* @return the next pair's name, and its address; NULL: there is none */
static const char *next_pair(const char **at, const char *end, const char **address)
{
    const char *name = *at, *texts[2];
    for (int i = 0; i < 2; i++) {
        const char *nul = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
        if (!nul)
            return NULL;
        texts[i] = *at;
        *at = nul + 1;
    }
    *address = texts[1];
    return name;
}

/* Those whose files are there. @return false: not written */
static bool replace_list(const qp_spool *spool, const qp_buf *kept)
{
    if (!kept->n)
        return unlinkat(spool->fd, list_name, 0) == 0 || errno == ENOENT;
    const int fd = openat(spool->fd, new_name,
                          O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool is_written = fd >= 0 && write_all(fd, kept->items, kept->n);
    if (fd >= 0)
        close(fd);
    return is_written && renameat(spool->fd, new_name, spool->fd, list_name) == 0;
}

/* @return false: no memory */
static bool keep(qp_placed *p, const char *name, const char *address, const char *end)
{
    const size_t n = (size_t)(end - name), at = p->kept.n + (size_t)(address - name);
    char *to = qp_buf_add_many(&p->kept, n);
    if (to)
        memcpy(to, name, n);
    return to && qp_dict_put(&p->places, hash_of(name), (uint32_t)at + 1);
}

bool qp_placed_read(qp_placed *p, const qp_spool *spool)
{
    size_t n;
    bool is_good;
    char *bytes = read_list(spool, &n, &is_good);
    const char *at = bytes, *end = at + n, *address, *name;
    qp_placed_fini(p);
    *p = (qp_placed){.spool = spool, .kept = QP_BUF(char)};
    qp_dict_init(&p->places);
    /* what a killed push left half is not taken */
    while (is_good && n && (name = next_pair(&at, end, &address)))
        if (faccessat(spool->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            is_good = keep(p, name, address, at);
    if (is_good && p->kept.n != n)
        is_good = replace_list(spool, &p->kept);
    qp_free(bytes);
    return is_good;
}

void qp_placed_fini(qp_placed *p)
{
    qp_dict_fini(&p->places);
    qp_free(p->kept.items);
    p->kept.items = NULL;
}

const char *qp_placed_find(const qp_placed *p, const char *name)
{
    const uint32_t at = qp_dict_get(&p->places, hash_of(name));
    return at ? (const char *)p->kept.items + at - 1 : NULL;
}

bool qp_placed_note(const qp_placed *p, const char *name, const char *address)
{
    qp_buf pair = QP_BUF(char);
    struct stat st;
    const size_t n_name = strlen(name) + 1, n_address = strlen(address) + 1;
    char *to = qp_buf_add_many(&pair, n_name + n_address);
    const int fd =
        openat(p->spool->fd, list_name,
               O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    bool is_good = to && fd >= 0 && fstat(fd, &st) == 0;
    if (is_good) {
        memcpy(to, name, n_name);
        memcpy(to + n_name, address, n_address);
        is_good = write_all(fd, pair.items, pair.n);
        if (!is_good &&
            ftruncate(fd, st.st_size) != 0) /* the next pair would follow a half one */
            unlinkat(p->spool->fd, list_name, 0);
    }
    if (fd >= 0)
        close(fd);
    qp_free(pair.items);
    return is_good;
}
