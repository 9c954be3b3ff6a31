/* glob.c: matching without recursion, so that no pattern costs more than the square of the text's
 * length times its own. Read match first. */
#include "base/text/glob.h"

#include <string.h>

/* How a pattern is read. */
typedef struct {
    bool is_path;   /* '/' separates folders */
    bool is_prefix; /* the text may continue after a '/' */
} manner;

/* The end of a class that begins at '['; NULL: it has none. */
static const char *end_of_class(const char *at)
{
    at++;
    at += *at == '!' || *at == '^';
    at += *at == ']';
    return strchr(at, ']');
}

static bool is_in_class(const char *at, const char *end, unsigned char c)
{
    bool is_other = at[1] == '!' || at[1] == '^', is_in = false;
    for (at += 1 + is_other; at < end; at++) {
        unsigned char low = (unsigned char)*at, high = low;
        if (at[1] == '-' && at + 2 < end) {
            high = (unsigned char)at[2];
            at += 2;
        }
        is_in |= c >= low && c <= high;
    }
    return is_in != is_other;
}

/* One character. @return the rest of the pattern; NULL: it does not fit */
static const char *fit_one(const char *glob, char c, manner how)
{
    bool is_any = c && !(how.is_path && c == '/');
    const char *end = *glob == '[' ? end_of_class(glob) : NULL;
    if (end)
        return is_any && is_in_class(glob, end, (unsigned char)c) ? end + 1 : NULL;
    if (*glob == '?')
        return is_any ? glob + 1 : NULL;
    if (*glob == '\\' && glob[1])
        glob++;
    return c && *glob == c ? glob + 1 : NULL;
}

/* Where matching resumes if the text after a run of stars does not fit: the stars take more of it. */
typedef struct {
    const char *glob, *text; /* glob NULL: there was none */
    bool is_folders;         /* what they take ends with a '/' */
} resume;

/* Leave one character, or one folder, more to the stars. */
static bool take_more(resume *r, manner how, bool is_deep)
{
    if (!r->glob || !*r->text || (!is_deep && how.is_path && *r->text == '/'))
        return false;
    if (!r->is_folders) {
        r->text++;
        return true;
    }
    const char *slash = strchr(r->text, '/');
    r->text = slash ? slash + 1 : r->text;
    return slash != NULL;
}

static bool is_end(const char *glob, const char *begin, const char *at, manner how)
{
    if (*glob)
        return false;
    return !*at || (how.is_prefix && (*at == '/' || (at > begin && at[-1] == '/')));
}

static bool match(const char *glob, const char *begin, manner how)
{
    resume star = {0}, stars = {0};
    const char *text = begin;
    while (!is_end(glob, begin, text, how)) {
        const char *next = *glob == '*' ? NULL : fit_one(glob, *text, how);
        if (*glob == '*') {
            size_t n = strspn(glob, "*");
            bool is_deep = n > 1 || !how.is_path;
            bool is_folders = is_deep && how.is_path && glob[n] == '/';
            glob += n + is_folders;
            *(is_deep ? &stars : &star) = (resume){glob, text, is_folders};
            star.glob = is_deep ? NULL : star.glob;
        } else if (next) {
            glob = next;
            text++;
        } else if (take_more(&star, how, false)) {
            glob = star.glob;
            text = star.text;
        } else if (take_more(&stars, how, true)) {
            star.glob = NULL;
            glob = stars.glob;
            text = stars.text;
        } else {
            return false;
        }
    }
    return true;
}

bool qp_glob_fits_path(const char *glob, const char *path)
{
    return match(glob, path, (manner){.is_path = true, .is_prefix = true});
}

bool qp_glob_fits_name(const char *glob, const char *name)
{
    return match(glob, name, (manner){0});
}
