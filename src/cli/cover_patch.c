/* cover_patch.c: a patch from git, from a file or from standard input. */
#include "cli/cover_patch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/child.h"

/* ---- git ------------------------------------------------------------------------------------- */

/* Words of git that are not ours to cast away const from: execv takes char *const []. */
typedef union {
    const char *readable;
    char *word;
} word;

/* Run git in the repository, without its pager, file system monitor, diff drivers and text
 * converters: none writes another form. Filters of .gitattributes run as in any git command.
 * @param words  [n] @return false: a message was printed */
static bool run_git(const qp_cli *cli, const char *const *words, size_t n, qp_child_output *o)
{
    enum { MOST = 24 };
    const char *folder = cli->args.cover.repo ? cli->args.cover.repo : ".";
    const char *const first[] = {"git", "--no-optional-locks", "-C", folder,
                                 "-c",  "core.quotePath=true", "-c", "core.fsmonitor=false"};
    enum { N_FIRST = sizeof first / sizeof first[0] };
    char *argv[N_FIRST + MOST] = {NULL};
    for (size_t i = 0; i < N_FIRST + n; i++)
        argv[i] = (word){.readable = i < N_FIRST ? first[i] : words[i - N_FIRST]}.word;
    int error = qp_child_read(argv, o);
    if (!error && WIFEXITED(o->status) && WEXITSTATUS(o->status) == 0)
        return true;
    const char *why =
        strncmp(o->complaint, "fatal: ", 7) == 0 ? o->complaint + 7 : o->complaint;
    if (error == ENOENT)
        qp_cli_fail(cli,
                    "git is not installed; --patch=FILE takes what git diff wrote elsewhere");
    else if (error)
        qp_cli_fail(cli, "git: %s", strerror(error));
    else
        qp_cli_fail(cli, "git: %s: %s", folder, *why ? why : "it failed and did not say why");
    qp_free(o->text);
    return false;
}

static qp_patch *read_git(const qp_cli *cli)
{
    const char *revision = cli->args.cover.git;
    const char *const ask[] = {"rev-parse", "--is-inside-work-tree"};
    const char *const diff[] = {"diff",
                                "--relative",
                                "--unified=0",
                                "--no-color",
                                "--no-ext-diff",
                                "--no-textconv",
                                "--src-prefix=a/",
                                "--dst-prefix=b/",
                                "--ignore-submodules",
                                revision,
                                "--"};
    char error[QP_ERROR_BYTES];
    qp_child_output o;
    if (*revision == '-' || *revision == '\0') {
        qp_cli_fail(cli, "--git=%s: expected a revision, for example --git=main", revision);
        return NULL;
    }
    if (!run_git(cli, ask, sizeof ask / sizeof ask[0], &o))
        return NULL;
    qp_free(o.text);
    if (!run_git(cli, diff, sizeof diff / sizeof diff[0], &o))
        return NULL;
    qp_patch *patch = qp_patch_read(o.text ? o.text : "", o.n_bytes, error);
    qp_free(o.text);
    if (!patch)
        qp_cli_fail(cli, "git diff %s: %s", revision, error);
    return patch;
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* @return everything that comes from a descriptor; NULL: see why */
static char *read_all(int fd, size_t *n_bytes, const char **why)
{
    enum { FIRST_BYTES = 1 << 16 };
    size_t room = FIRST_BYTES;
    char *text = qp_alloc(room, 1);
    ssize_t n = 1;
    *why = "there is not enough memory to read it";
    for (*n_bytes = 0; text && n != 0; *n_bytes += n > 0 ? (size_t)n : 0) {
        if (*n_bytes == room) {
            char *larger = qp_realloc(text, room *= 2, 1);
            if (!larger)
                qp_free(text);
            text = larger;
        }
        n = text ? read(fd, text + *n_bytes, room - *n_bytes) : 0;
        if (n < 0 && errno != EINTR) {
            *why = strerror(errno);
            qp_free(text);
            text = NULL;
        }
    }
    return text;
}

/* Of a text without changed lines: does it say that files differ all the same, as of renames? */
static bool names_files(const char *text, size_t n_bytes)
{
    static const char begin[] = "diff ";
    const char *end = text + n_bytes;
    for (const char *line = text; line < end; line++) {
        if ((size_t)(end - line) >= strlen(begin) && memcmp(line, begin, strlen(begin)) == 0)
            return true;
        line = memchr(line, '\n', (size_t)(end - line));
        if (!line)
            return false;
    }
    return n_bytes == 0;
}

/* A pipe is taken where the shell made it: --patch=<(git diff). */
static int open_patch(const char *path, const char **why)
{
    if (strncmp(path, "/dev/fd/", strlen("/dev/fd/")) != 0)
        return qp_file_open(path, why);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *why = strerror(errno);
    return fd;
}

static qp_patch *read_file(const qp_cli *cli)
{
    const char *path = cli->args.cover.patch, *why;
    char error[QP_ERROR_BYTES];
    bool is_input = strcmp(path, "-") == 0;
    const char *name = is_input ? "standard input" : path;
    size_t n_bytes = 0;
    int fd = is_input ? STDIN_FILENO : open_patch(path, &why);
    char *text = fd >= 0 ? read_all(fd, &n_bytes, &why) : NULL;
    if (fd >= 0 && !is_input)
        close(fd);
    if (!text) {
        qp_cli_fail(cli, "%s: %s", name, why);
        return NULL;
    }
    qp_patch *patch = qp_patch_read(text, n_bytes, error);
    if (!patch) {
        qp_cli_fail(cli, "%s: %s", name, error);
    } else if (patch->n_files == 0 && !names_files(text, n_bytes)) {
        qp_cli_fail(cli, "%s: no unified diff is in it", name);
        qp_patch_free(patch);
        patch = NULL;
    }
    qp_free(text);
    return patch;
}

qp_patch *qp_cover_patch(const qp_cli *cli)
{
    return cli->args.cover.git ? read_git(cli) : read_file(cli);
}
