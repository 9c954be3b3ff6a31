/* fuzz_import_callgrind.c: lines of callgrind's format, sound ones in any order with changes, and
 * any bytes: read, checked, figures within the run's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/check.h"
#include "model/model.h"

enum { TEXT_MAX = 1 << 16 };

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void load(const char *text, size_t n_bytes)
{
    char error[QP_ERROR_BYTES];
    qp_model *m;
    qp_load_status status = qp_model_load_bytes(text, n_bytes, NULL, &m, error);
    expect((status == QP_LOAD_UNUSABLE) == (error[0] != '\0') && !strchr(error, '\n'));
    if (status == QP_LOAD_UNUSABLE)
        return;
    qp_check *checks;
    size_t n;
    expect(status == QP_LOAD_CLEAN && qp_model_check(m, &checks, &n));
    for (size_t i = 0; m->run.is_imported && i < n; i++)
        expect(checks[i].passed);
    qp_free(checks);
    qp_model_free(m);
}

/* Each byte stands for a line, or for a change of the line before. */
static size_t compose(char *text, const uint8_t *data, size_t n_bytes)
{
    static const char *const lines[] = {
        "fn=(1) main",
        "fn=(2) f",
        "fn=(3) g'2",
        "fn=(1)",
        "fn=(2)",
        "fn=(3)",
        "cfn=(1)",
        "cfn=(2)",
        "cfn=(3)",
        "cfn=(4) h",
        "calls=3 7",
        "calls=0 +2",
        "calls=1 *",
        "7 100 1",
        "+1 20",
        "-2 5 6",
        "* 9",
        "0x10 0xff",
        "fl=(1) a.c",
        "fl=(2) b.c",
        "fi=(1)",
        "fe=(2)",
        "cfi=(2)",
        "ob=(1) /x/p",
        "cob=(2) /x/l.so",
        "jump=3 9",
        "jcnd=1/2 9",
        "thread: 2",
        "thread: 1",
        "events: Ir Calls",
        "events: Ir",
        "positions: line",
        "positions: instr line",
        "summary: 9",
        "7 18446744073709551615",
    };
    enum { N_LINES = sizeof lines / sizeof *lines, HEAD = 64 };
    size_t at = (size_t)(stpcpy(text, n_bytes % 2 ? "version: 1\nevents: Ir Calls\n"
                                                  : "creator: qprof 1\nevents: a_ns Calls\n") -
                         text);
    for (; n_bytes > 0 && at < TEXT_MAX - HEAD; data++, n_bytes--) {
        if (*data < N_LINES) {
            at = (size_t)(stpcpy(text + at, lines[*data]) - text);
            text[at++] = '\n';
        } else if (*data >= 0x80 && n_bytes > 1) {
            text[at - 1 - (*data & 0x0F)] = (char)data[1];
        }
    }
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static char text[TEXT_MAX + 1];
    load((const char *)data, n_bytes);
    load(text, compose(text, data, n_bytes));
    return 0;
}
