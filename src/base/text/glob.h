/* glob.h: patterns of paths and of names.
 *
 *   ?      one character that is not '/'
 *   *      any number of those
 *   **     any number of any characters; "**" followed by a '/' also fits nothing
 *   [a-z]  one of them that is not '/'; [!a-z] and [^a-z]: none of them; without "]" a plain '['
 *   \x     x itself
 *
 * Bytes are characters. */
#ifndef QP_BASE_TEXT_GLOB_H
#define QP_BASE_TEXT_GLOB_H

#include <stdbool.h>

/* Does the glob fit a path, or a folder that it lies in? "tests" and "tests/" fit "tests/a.lua". */
bool qp_glob_fits_path(const char *glob, const char *path);

/* Does it fit the whole name? '/' is a character like others: '*' fits "a/b". */
bool qp_glob_fits_name(const char *glob, const char *name);

#endif
