/* cover.c: which files are covered, by the options -cover-root, -cover-include and -cover-exclude. */
#include "recorder.h"

static struct {
    char root[MAXPATHLEN]; /* ends with '/' */
    int has_root;
    const char *included, *excluded; /* NULL: no patterns */
} choice;

static const char *text_option(const char *name)
{
    const char *text = qprof_get_option(name);
    return text && *text ? text : NULL;
}

void cover_begin(void)
{
    const char *root = text_option("cover-root");
    choice.has_root = root != NULL;
    if (!VCWD_REALPATH(root ? root : ".", choice.root))
        snprintf(choice.root, sizeof choice.root - 1, "%s", root ? root : "");
    size_t n = strlen(choice.root);
    if (n && n < sizeof choice.root - 1 && choice.root[n - 1] != '/')
        memcpy(choice.root + n, "/", 2);
    choice.included = text_option("cover-include");
    choice.excluded = text_option("cover-exclude");
}

/* @param pattern  at "[". @return after it if the letter is one of its set; else NULL */
static const char *match_set(const char *pattern, const char *end, char letter)
{
    const char *at = pattern + 1;
    int is_negated = at < end && (*at == '!' || *at == '^'), found = 0;
    at += is_negated;
    for (const char *first = at; at < end && (*at != ']' || at == first); at++) {
        if (at + 2 < end && at[1] == '-' && at[2] != ']') {
            found |= *at <= letter && letter <= at[2];
            at += 2;
        } else {
            found |= *at == letter;
        }
    }
    return at < end && letter && letter != '/' && found != is_negated ? at + 1 : NULL;
}

/* Does a pattern fit a path or a folder above it? "**" fits any number of folders. */
static int matches(const char *pattern, const char *end, const char *path)
{
    for (; pattern < end; pattern++, path++) {
        if (*pattern == '*') {
            int is_deep = pattern + 1 < end && pattern[1] == '*';
            pattern += 1 + is_deep;
            if (is_deep && pattern < end && *pattern == '/' && matches(pattern + 1, end, path))
                return 1;
            for (;; path++) {
                if (matches(pattern, end, path))
                    return 1;
                if (!*path || (*path == '/' && !is_deep))
                    return 0;
            }
        }
        if (*pattern == '[') {
            const char *after = match_set(pattern, end, *path);
            if (!after)
                return 0;
            pattern = after - 1;
        } else if (!*path || (*pattern == '?' ? *path == '/' : *pattern != *path)) {
            return *pattern == '/' && pattern + 1 == end && !*path;
        }
    }
    return !*path || *path == '/' || path[-1] == '/';
}

static int matches_any(const char *patterns, const char *path)
{
    while (*patterns) {
        size_t n = strcspn(patterns, ":,");
        if (n && matches(patterns, patterns + n, path))
            return 1;
        patterns += n + (patterns[n] != 0);
    }
    return 0;
}

int cover_has(const char *file)
{
    size_t n = strlen(choice.root);
    int is_below = strncmp(file, choice.root, n) == 0;
    const char *shown = is_below ? file + n : file;
    if (*file != '/' || strstr(file, " : eval()'d code") || (choice.has_root && !is_below))
        return 0;
    if (!choice.included && !choice.has_root &&
        (strncmp(file, "/usr/share/", 11) == 0 || strstr(file, "/vendor/")))
        return 0;
    return !(choice.included && !matches_any(choice.included, shown)) &&
           !(choice.excluded && matches_any(choice.excluded, shown));
}
