/* huge.c: the page of 2,000 files of 200 lines, on standard output. Every line of a file is one
 * block; what it counts follows from file and line (see count_of), as test_coverage.sh
 * knows. */
#include <stdio.h>
#include <unistd.h>

#include "export/export.h"
#include "export/picture.h"

enum { FILES = 2000, LINES = 200, FUNCTION_LINES = 20, FILES_OF_DIR = 40 };

/* The last fifth of every function is missed, in every tenth file all of it. */
static unsigned count_of(unsigned file, unsigned line)
{
    return file % 10 == 9 || line % FUNCTION_LINES >= 16 ? 0 : file + line + 1;
}

static void add_file(picture *p, unsigned file, const uint32_t contexts[2])
{
    char path[64], name[32];
    snprintf(path, sizeof path, "src/part%02u/file%04u.lua", file / FILES_OF_DIR, file);
    picture_file(p, path);
    uint32_t function = 0;
    for (unsigned line = 0; line < LINES; line++) {
        unsigned count = count_of(file, line);
        if (line % FUNCTION_LINES == 0) {
            snprintf(name, sizeof name, "f%u_%u", file, line / FUNCTION_LINES);
            function = picture_function(p, name, count);
        }
        picture_block(p, line + 1, function, count);
        if (line % 5 == 0)
            picture_jump(p, line + 1, 0, function, count > 0, count / 2, 0);
        if (count)
            picture_touch(p, line + 1, contexts[line % 2], count);
    }
}

int main(void)
{
    static qp_out out;
    qp_error error;
    picture *p = picture_new();
    uint32_t contexts[2] = {picture_context(p, "even"), picture_context(p, "odd")};
    for (unsigned file = 0; file < FILES; file++)
        add_file(p, file, contexts);
    qp_out_init(&out, STDOUT_FILENO);
    bool is_good =
        qp_cover_export(qp_cover_exporter_named("html"), picture_done(p), &out, NULL, &error) &&
        qp_out_close(&out) == 0;
    if (!is_good)
        fprintf(stderr, "web_huge: %s\n", error.text);
    picture_free(p);
    return !is_good;
}
