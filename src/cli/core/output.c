/* output.c: see output.h. */
#include "cli/core/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"
#include "base/os/new_file.h"
#include "format/layout.h"
#include "model/figures/figures.h"

bool qp_output_is_standard(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    bool is_it = !path;
    for (size_t i = 0; !is_it && i < sizeof names / sizeof *names; i++)
        is_it = strcmp(path, names[i]) == 0;
    return is_it;
}

bool qp_output_is_stream(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && (S_ISFIFO(at.st_mode) || S_ISCHR(at.st_mode));
}

/* ---- what is not overwritten ----------------------------------------------------------------- */

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_file(const struct stat *output, const char *path)
{
    struct stat at;
    return path && stat(path, &at) == 0 && is_one(output, &at);
}

static bool is_any_source(const qp_cli *cli, const struct stat *output, const qp_model *m)
{
    qp_model_file *files;
    size_t n;
    bool is_it = false;
    if (!m || !qp_model_files(m, &files, &n))
        return false;
    for (size_t i = 0; i < n && !is_it; i++)
        is_it = qp_source_is(files[i].path, &cli->args.folders, output);
    qp_free(files);
    return is_it;
}

static bool has_mark(const char *path, const char *mark)
{
    char begin[QP_MARK_BYTES];
    const char *why;
    int fd = mark ? qp_file_open(path, &why) : -1;
    begin[fd >= 0 ? qp_file_read_at(fd, begin, sizeof begin - 1, 0) : 0] = '\0';
    if (fd >= 0)
        close(fd);
    const char *at = mark ? strstr(begin, mark) : NULL;
    return at &&
           (at == begin || strcmp(mark, QP_MAGIC) != 0); /* a page has its mark further on */
}

static bool fail_exists(const qp_cli *cli, const char *path)
{
    const qp_command *c = cli->command;
    const char *what = c->replaces ? "is another kind of file" : "exists";
    if (c->writes_profile != has_mark(path, QP_MAGIC))
        what = c->writes_profile ? "is not a profile" : "is a profile";
    return qp_cli_refuse(cli, "%s: %s (%s)", path, what,
                         qp_flag_named(c, "force", 5) ? "--force replaces it"
                                                      : "name another file, or remove it");
}

bool qp_output_is_free(const qp_cli *cli, const char *path, const char *input,
                       const qp_model *m)
{
    struct stat at;
    if (cli->command->writes_profile && path && qp_output_is_standard(path))
        return qp_cli_refuse(cli,
                             "a profile cannot be written to standard output (use -o FILE)");
    if (qp_output_is_standard(path) || stat(path, &at) != 0 || !S_ISREG(at.st_mode))
        return true; /* other files than plain ones are refused when they are opened */
    if (is_file(&at, input) || is_file(&at, cli->args.cover.adjustments) ||
        is_file(&at, cli->args.trace.file))
        return qp_cli_refuse(cli, "%s: is an input (name another file for the output)", path);
    if (is_any_source(cli, &at, m))
        return qp_cli_refuse(
            cli, "%s: is a source of the program (name another file for the output)", path);
    return !at.st_size || cli->args.is_replacing || has_mark(path, cli->command->replaces) ||
           fail_exists(cli, path);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_stream(const qp_cli *cli, const char *path, qp_output_writer *write,
                        const void *data)
{
    static qp_out out;
    qp_error error;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return qp_cli_fail(cli, "%s: %s", path, strerror(errno));
    qp_out_init(&out, fd);
    bool is_good = write(data, &out, &error);
    int failed = qp_out_close(&out);
    if (close(fd) != 0 && !failed)
        failed = errno;
    if (!is_good)
        return qp_cli_fail(cli, "%s: %s", path, error.text);
    return failed ? qp_cli_fail(cli, "%s: %s", path, strerror(failed)) : QP_EXIT_CLEAN;
}

int qp_output_write(qp_cli *cli, const char *path, qp_output_writer *write, const void *data)
{
    static qp_new_file file; /* 72 KiB: not on the stack */
    qp_error error;
    const char *why;
    if (qp_output_is_standard(path))
        return write(data, &cli->out, &error) ? QP_EXIT_CLEAN
                                              : qp_cli_fail(cli, "%s", error.text);
    if (qp_output_is_stream(path))
        return write_stream(cli, path, write, data);
    if (!qp_new_file_begin(&file, path, &why))
        return qp_cli_fail(cli, "%s: %s", path, why);
    if (!write(data, &file.out, &error)) {
        qp_new_file_drop(&file);
        return qp_cli_fail(cli, "%s: %s", path, error.text);
    }
    return qp_new_file_end(&file, &why) ? QP_EXIT_CLEAN : qp_cli_fail(cli, "%s: %s", path, why);
}

int qp_output_print(qp_cli *cli, const qp_forms *forms, const void *data)
{
    if (cli->args.format == QP_FORMAT_JSON)
        qp_document_json(&cli->out, forms->document, data);
    else if (cli->args.format == QP_FORMAT_CSV)
        forms->csv(cli, data);
    else if (!forms->text(cli, data))
        return qp_cli_fail_memory(cli);
    return QP_EXIT_CLEAN;
}

/* ---- formats --------------------------------------------------------------------------------- */

int qp_output_format(const qp_cli *cli, const char *words)
{
    char hint[QP_HINT_BYTES], otherwise[QP_HINT_BYTES];
    const char *name = cli->args.to;
    int at = name ? qp_args_word(words, name) : -1;
    snprintf(otherwise, sizeof otherwise, "expected %s", words);
    if (!name)
        qp_cli_fail(cli, "missing --to=%s", words);
    else if (at < 0)
        qp_cli_fail(cli, "--to=%s: no such format%s", name,
                    qp_args_hint(hint, words, name, strlen(name), "--to=", otherwise));
    return at;
}
