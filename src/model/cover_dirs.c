/* cover_dirs.c: the folders of the files. Files are in order, so that a folder's are together and
 * the folders of the file before are known. */
#include <string.h>

#include "model/cover_paths.h"
#include "model/cover_picture.h"

static qp_cover_dir *dir_at(struct qp_cover_private *own, uint32_t i)
{
    return (qp_cover_dir *)own->dirs.items + i;
}

/* @return false: no memory */
static bool add_dir(struct qp_cover_private *own, const char *path, size_t n_bytes,
                    uint32_t parent)
{
    qp_cover_dir *d = qp_buf_add(&own->dirs);
    char *copy = qp_arena_take(&own->arena, n_bytes + 1, 1);
    if (!d || !copy)
        return false;
    memcpy(copy, path, n_bytes);
    bool is_root = own->dirs.n == 1;
    *d = (qp_cover_dir){
        .path = copy, .parent = parent, .depth = is_root ? 0 : dir_at(own, parent)->depth + 1};
    return true;
}

static bool is_inside(const qp_cover_dir *d, const char *path, size_t n_bytes)
{
    size_t n = strlen(d->path);
    return n <= n_bytes && memcmp(d->path, path, n) == 0 &&
           (n == n_bytes || !n || path[n] == '/');
}

/* The folder of a file, with those that it lies in. @param dir  that of the file before */
static bool find_dir(struct qp_cover_private *own, const char *path, uint32_t *dir)
{
    size_t n_bytes = qp_paths_folder(path);
    while (!is_inside(dir_at(own, *dir), path, n_bytes))
        *dir = dir_at(own, *dir)->parent;
    for (size_t n = strlen(dir_at(own, *dir)->path); n < n_bytes;) {
        n += path[n] == '/';
        n += strcspn(path + n, "/");
        if (!add_dir(own, path, n, *dir))
            return false;
        *dir = (uint32_t)own->dirs.n - 1;
    }
    return true;
}

bool qp_cover_draw_dirs(struct qp_cover_private *own)
{
    qp_cover_file *files = own->files.items;
    uint32_t dir = 0;
    bool is_ok = add_dir(own, "", 0, 0);
    for (size_t i = 0; is_ok && i < own->files.n; i++) {
        is_ok = find_dir(own, files[i].path, &dir);
        files[i].dir = dir;
    }
    if (!is_ok)
        return false;
    for (size_t i = 0; i < own->files.n; i++)
        qp_cover_totals_add(&dir_at(own, files[i].dir)->totals, &files[i].totals);
    for (uint32_t i = (uint32_t)own->dirs.n; i-- > 1;) {
        qp_cover_dir *d = dir_at(own, i), *parent = dir_at(own, d->parent);
        qp_cover_totals_add(&parent->totals, &d->totals);
        parent->totals.dirs++;
    }
    own->cover.totals = dir_at(own, 0)->totals;
    return true;
}
