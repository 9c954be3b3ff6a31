/* pictures.c: the pictures that all tests of the exporters share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/picture.h"

/* lib/util.lua                             main.lua
 *  1 local util = {}                         1 local util = require "lib.util"
 *  3 function util.leaf(n)                   3 local function work(n)
 *  4     return n - 1 -- inspected           4     if n > 2 then
 *                                            5         return util.leaf(n)
 *                                            7     return n > 1 and n or 0
 *                                           10 local function work_(n)     also named work
 *                                           11     return n or 0           never called
 *                                           13 work(1) work(2) work(3)
 *                                           14 os.exit(1)                  tested by hand
 *                                           15 if not util then            dead code
 */
const qp_cover *picture_small(picture *p)
{
    uint32_t none = picture_context(p, ""), first = picture_context(p, "first test");
    picture_file(p, "lib/util.lua");
    uint32_t util = picture_function(p, "util", 1);
    uint32_t leaf = picture_function(p, "leaf", 4);
    picture_block(p, 1, util, 1);
    picture_block(p, 3, util, 1);
    picture_block(p, 4, leaf, 4);
    picture_mark(p, 4, QP_ANNOTATION_INSPECTED);
    picture_touch(p, 1, none, 1);
    picture_touch(p, 4, none, 1);
    picture_touch(p, 4, first, 3);

    picture_file(p, "main.lua");
    uint32_t chunk = picture_function(p, "main", 1);
    uint32_t work = picture_function(p, "work", 3);
    uint32_t unused = picture_function(p, "work", 0);
    picture_block(p, 1, chunk, 1);
    picture_block(p, 3, chunk, 1);
    picture_block(p, 4, work, 3);
    picture_jump(p, 4, 0, work, true, 2, 1);
    picture_block(p, 5, work, 1);
    picture_block(p, 7, work, 2);
    picture_block(p, 7, work, 2);
    picture_block(p, 7, work, 0);
    picture_jump(p, 7, 0, work, true, 0, 2);
    picture_block(p, 10, chunk, 1);
    picture_block(p, 11, unused, 0);
    picture_jump(p, 11, 0, unused, false, 0, 0);
    picture_block(p, 13, chunk, 1);
    picture_block(p, 14, chunk, 0);
    picture_mark(p, 14, QP_ANNOTATION_TESTED);
    picture_block(p, 15, chunk, 0);
    picture_jump(p, 15, 0, chunk, false, 0, 0);
    picture_mark(p, 15, QP_ANNOTATION_DEADCODE);
    picture_touch(p, 4, first, 3);
    return picture_done(p);
}

const qp_cover *picture_hostile(picture *p)
{
    static const char *const names[] = {"\"quoted\" 'twice'",
                                        "</script><script>alert(1)</script>",
                                        "two\nlines",
                                        "carriage\rreturn",
                                        "tab\tbetween",
                                        "end_of_record\nSF:other.lua",
                                        "\xFF\xFE invalid \xC3",
                                        "\033[2J\033]0;title\a terminal",
                                        ("csi \xC2\x9B" /* apart, or the 2 were a digit of it */
                                         "2J"),
                                        "comma, semicolon; colon: hash# equals=",
                                        "]]> &amp; <!-- -- <![CDATA[",
                                        "right \xE2\x80\xAE to left",
                                        "lines \xE2\x80\xA8 and \xE2\x80\xA9",
                                        "not in XML \x01 \xEF\xBF\xBF",
                                        "=cmd|' /C calc'!A0",
                                        "back\\slash %s %n $(id) `id`",
                                        "gr\xC3\xBC\xC3\x9F \xE4\xBD\xA0\xE5\xA5\xBD",
                                        " blanks around ",
                                        ""};
    char *longest = malloc(1 << 16);
    memset(longest, 'x', (1 << 16) - 1);
    longest[(1 << 16) - 1] = '\0';
    uint32_t context = picture_context(p, "</script>\033[1m\xFF");
    for (size_t i = 0; i <= sizeof names / sizeof names[0]; i++) {
        char path[256];
        const char *name = i < sizeof names / sizeof names[0] ? names[i] : longest;
        snprintf(path, sizeof path, "%zu/%.100s.lua", 100 + i, name);
        picture_file(p, i < sizeof names / sizeof names[0] ? path : longest);
        picture_block(p, 1, picture_function(p, name, 1), 1);
        picture_touch(p, 1, context, 1);
        picture_block(p, 2, picture_function(p, name, 0), 0);
    }
    free(longest);
    return picture_done(p);
}

static uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

static void large_file(picture *p, uint64_t *state)
{
    uint32_t line = 1;
    for (uint32_t i = 0, n = 1 + random_below(state, 12); i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "f%u", random_below(state, 10));
        uint64_t calls = random_below(state, 3) * (uint64_t)random_below(state, 1000000);
        uint32_t function = picture_function(p, name, calls);
        for (uint32_t k = 0, n_lines = 1 + random_below(state, 20); k < n_lines; k++) {
            uint32_t n_blocks = 1 + (random_below(state, 4) == 0) * random_below(state, 3);
            uint64_t most = 0;
            for (uint32_t b = 0; b < n_blocks; b++) {
                uint64_t count = calls ? random_below(state, 4) * (calls + b) : 0;
                picture_block(p, line, function, count);
                most = count > most ? count : most;
            }
            if (random_below(state, 3) == 0)
                picture_jump(p, line, 0, function, most > 0, most ? random_below(state, 3) : 0,
                             most / 2);
            if (random_below(state, 20) == 0)
                picture_mark(p, line, 1 + random_below(state, 3));
            line += 1 + random_below(state, 3);
        }
    }
}

const qp_cover *picture_large(picture *p)
{
    uint64_t state = 1;
    for (unsigned dir = 0; dir < 30; dir++)
        for (unsigned i = 0; i < 10; i++) {
            char path[64];
            snprintf(path, sizeof path, "src/dir%02u/file%02u.lua", dir, i);
            picture_file(p, path);
            large_file(p, &state);
        }
    return picture_done(p);
}

const qp_cover *picture_named(picture *p, const char *name)
{
    return strcmp(name, "empty") == 0     ? picture_done(p)
           : strcmp(name, "small") == 0   ? picture_small(p)
           : strcmp(name, "hostile") == 0 ? picture_hostile(p)
           : strcmp(name, "large") == 0   ? picture_large(p)
                                          : NULL;
}
