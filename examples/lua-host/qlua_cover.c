/* qlua_cover.c: which code is covered, and that all of it is registered, called or not.
 *
 * Code that -cover-root, -cover-include and -cover-exclude leave out has no line table and so
 * is in no report of coverage, like C functions; if only coverage is recorded, it is not
 * registered. Names come from the code that defines a function, so that a function has one
 * name, called or not. */
#define LUA_CORE
#define _GNU_SOURCE /* realpath */
#include "lprefix.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qlua_glue.h"

static char root[PATH_MAX]; /* without '/' at its end; the current folder by default */
static int has_root;
static const char *included, *excluded; /* globs; NULL: none */

static const char *text_option(const char *name)
{
    const char *text = qprof_get_option(name);
    return text && text[0] ? text : NULL;
}

void qlua_cover_open(void)
{
    const char *given = text_option("cover-root");
    has_root = given != NULL;
    included = text_option("cover-include");
    excluded = text_option("cover-exclude");
    if (realpath(given ? given : ".", root) == NULL) {
        if (given)
            qlua_cover_say(given, "-cover-root has to be a folder; nothing is covered");
        snprintf(root, sizeof root, "%s", "/dev/null");
    }
    if (strcmp(root, "/") == 0)
        root[0] = '\0';
}

void qlua_cover_say(const char *what, const char *why)
{
    const char *const texts[] = {"qlua: coverage: ", what, " is not covered: ", why};
    for (int i = 0; i < 4; i++) {
        for (const char *at = texts[i]; *at; at++)
            fputc((unsigned char)*at < ' ' || *at == 0x7F ? '?' : *at, stderr);
    }
    fputc('\n', stderr);
}

const char *qlua_cover_root(void)
{
    return root[0] ? root : "/";
}

/* ---- globs: those of qprof's options ----------------------------------------------------- */

static int fits_class(const char *at, const char *end, unsigned char c)
{
    int is_other = at[1] == '!' || at[1] == '^', is_in = 0;
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

static const char *end_of_class(const char *at)
{
    at += at[1] == '!' || at[1] == '^' ? 2 : 1;
    return strchr(at + (*at == ']'), ']');
}

/* Whether the glob [glob, end) matches the path, or a folder above it. */
static int fits(const char *glob, const char *end, const char *path)
{
    for (;; glob++, path++) {
        if (glob == end)
            return *path == '\0' || *path == '/' || path[-1] == '/';
        if (*glob == '*') {
            int is_deep = glob + 1 < end && glob[1] == '*';
            glob += 1 + is_deep;
            if (is_deep && glob < end && *glob == '/' && fits(glob + 1, end, path))
                return 1;
            for (; !fits(glob, end, path); path++) {
                if (*path == '\0' || (*path == '/' && !is_deep))
                    return 0;
            }
            return 1;
        }
        const char *close = *glob == '[' ? end_of_class(glob) : NULL;
        if (*path == '\0')
            return 0;
        if (close && close < end) {
            if (*path == '/' || !fits_class(glob, close, (unsigned char)*path))
                return 0;
            glob = close;
        } else if (*glob == '?') {
            if (*path == '/')
                return 0;
        } else {
            glob += *glob == '\\' && glob + 1 < end;
            if (*glob != *path)
                return 0;
        }
    }
}

static int fits_any(const char *globs, const char *path)
{
    while (*globs) {
        size_t n = strcspn(globs, ":,");
        if (n && fits(globs, globs + n, path))
            return 1;
        globs += n + (globs[n] != '\0');
    }
    return 0;
}

/* ---- what is covered --------------------------------------------------------------------- */

int qlua_cover_has(const char *path)
{
    char real[2 * PATH_MAX];
    if (!has_root && !included && !excluded)
        return 1;
    if (path == NULL)
        return !has_root && !included;
    if (realpath(path, real) == NULL)
        snprintf(real, sizeof real, "%s%s%s", path[0] == '/' ? "" : root,
                 path[0] == '/' ? "" : "/", path);
    size_t n = strlen(root);
    int is_below = strncmp(real, root, n) == 0 && real[n] == '/';
    const char *shown = is_below ? real + n + 1 : real;
    return (is_below || !has_root) && (!included || fits_any(included, shown)) &&
           !(excluded && fits_any(excluded, shown));
}

static void add_all(lua_State *L, Proto *p)
{
    qlua_code_add(L, NULL, p, 1);
    for (int i = 0; i < p->sizep; i++)
        add_all(L, p->p[i]);
}

void qlua_cover_file(lua_State *L, Proto *p, const qlua_module *module)
{
    qlua_cover_loaded(getstr(p->source) + 1, NULL, 1);
    qlua_name_chunk(L, NULL, p, module);
    add_all(L, p);
}

void qlua_cover_code(lua_State *L, CallInfo *ci, Proto *p)
{
    const char *source = p->source ? getstr(p->source) : "";
    const char *path = source[0] == '@' ? source + 1 : NULL;
    int is_main = p->linedefined == 0;
    int is_covered = qlua_cover_has(path);
    if (path && is_main)
        qlua_cover_loaded(path, p, is_covered);
    if (is_covered) {
        add_all(L, p);
    } else if (qlua_is_reporting) {
        qlua_code_add(L, ci, p, 0);
    } else {
        qlua_code_ignore(p);
    }
}
