/* fuzz_import_callgrind.c: lines of callgrind's format, sound ones in any order with changes,
 * and any bytes: read, checked, figures within the run's. */
#include "fuzz/import.h"

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
    const char *head = n_bytes % 2 ? "version: 1\nevents: Ir Calls\n"
                                   : "creator: qprof 1\nevents: a_ns Calls\n";
    return compose_lines(text, head, lines, sizeof lines / sizeof *lines, data, n_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static char text[TEXT_MAX + 1];
    expect(load(data, n_bytes) != QP_LOAD_SALVAGED);
    expect(load(text, compose(text, data, n_bytes)) != QP_LOAD_SALVAGED);
    return 0;
}
