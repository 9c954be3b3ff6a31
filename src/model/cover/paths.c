/* paths.c: paths are compared as texts: the files themselves may be on another machine. */
#include <string.h>
#include <unistd.h>

#include "model/cover/cover.h"

enum { FOLDER_BYTES = 4096 };

/* "/usr", "\\server", "C:\src" */
static bool is_absolute(const char *path)
{
    bool has_drive =
        ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) &&
        path[1] == ':' && (path[2] == '/' || path[2] == '\\');
    return path[0] == '/' || path[0] == '\\' || has_drive;
}

/* Text that was loaded, and not from a file: [string "a / b"], <stdin>. */
static bool is_no_path(const char *name)
{
    size_t n = strlen(name);
    return n > 1 &&
           ((name[0] == '[' && name[n - 1] == ']') || (name[0] == '<' && name[n - 1] == '>'));
}

/* Take the last part of to[0 .. n) off. @return bytes left; n: there is none to take off */
static size_t leave_folder(const char *to, size_t n)
{
    size_t begin = n;
    while (begin > 0 && to[begin - 1] != '/')
        begin--;
    bool is_up = n - begin == 2 && memcmp(to + begin, "..", 2) == 0;
    if (begin == n || is_up)
        return n;
    return begin > 1 ? begin - 1 : begin;
}

/* Without '\', '//', '.' and, as far as there is something to leave, '..'. In place. */
static void simplify(char *path)
{
    bool is_rooted = path[0] == '/' || path[0] == '\\';
    size_t n = is_rooted, n_bytes = strlen(path);
    if (is_rooted)
        path[0] = '/'; /* parts are joined to it: never more bytes than were read */
    for (size_t at = 0; at < n_bytes;) {
        size_t length = strcspn(path + at, "/\\");
        const char *part = path + at;
        at += length + 1;
        bool is_up = length == 2 && part[0] == '.' && part[1] == '.';
        if (!length || (length == 1 && part[0] == '.'))
            continue;
        size_t left = is_up ? leave_folder(path, n) : n;
        if (left < n || (is_up && is_rooted && n == 1)) {
            n = left;
            continue;
        }
        if (n && path[n - 1] != '/')
            path[n++] = '/';
        memmove(path + n, part, length);
        n += length;
    }
    path[n] = '\0';
}

static char *make_absolute(const qp_paths *p, qp_arena *arena, const char *path)
{
    char *joined = is_absolute(path) ? qp_arena_text(arena, path)
                                     : qp_arena_format(arena, "%s/%s", p->folder, path);
    if (joined)
        simplify(joined);
    return joined;
}

bool qp_paths_init(qp_paths *p, qp_arena *arena, const char *root)
{
    char folder[FOLDER_BYTES];
    bool is_known = getcwd(folder, sizeof folder) != NULL;
    p->folder = qp_arena_text(arena, is_known ? folder : "/");
    p->root = p->folder ? make_absolute(p, arena, root ? root : ".") : NULL;
    return p->root != NULL;
}

/* What follows the root in an absolute path; NULL: it lies elsewhere. */
static const char *below_root(const qp_paths *p, const char *path)
{
    size_t n = strlen(p->root);
    if (strncmp(path, p->root, n) != 0)
        return NULL;
    if (n && p->root[n - 1] == '/')
        return path + n;
    return path[n] == '/' ? path + n + 1 : NULL;
}

char *qp_paths_show(const qp_paths *p, qp_arena *arena, const char *path, bool *is_inside)
{
    char *shown = qp_arena_text(arena, path);
    *is_inside = true;
    if (is_no_path(path))
        return shown;
    char *whole = make_absolute(p, arena, path);
    if (!shown || !whole)
        return NULL;
    simplify(shown);
    const char *below = below_root(p, whole);
    if (below && *below)
        return whole + (below - whole);
    bool is_up = shown[0] == '.' && shown[1] == '.' && (shown[2] == '/' || !shown[2]);
    *is_inside = !is_absolute(shown) && !is_up;
    return *is_inside ? shown : whole;
}

static unsigned rank_of(char c)
{
    return !c ? 0 : c == '/' ? 1 : 1u + (unsigned char)c;
}

int qp_paths_compare(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    unsigned x = rank_of(*a), y = rank_of(*b);
    return (x > y) - (x < y);
}

size_t qp_paths_folder(const char *path)
{
    const char *slash = is_no_path(path) ? NULL : strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}
