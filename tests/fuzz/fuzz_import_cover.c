/* fuzz_import_cover.c: records of PureCoverage's export and lines of luacov's statistics, sound ones in any
 * order with changes, and any bytes: read, checked, figures within the run's. */
#include "fuzz/import.h"

static size_t compose(char *text, const uint8_t *data, size_t n_bytes)
{
    static const char *const lines[] = {
        "to\t1\t3\t2\t6\t1\t2\t1\t1",
        "di\tsrc\t1\t3\t2\t6\t1\t2\t1",
        "fi\ta.c\t1\t3\t2\t6\t1\t2",
        "fu\tmain\t0\t2\t0\t4\t7",
        "fu\tdead\t0\t0\t0\t0\t1",
        "bl\t10\t12\t5",
        "bl\t10\t10\t0",
        "li\t10\t5",
        "li\t10\tTEST",
        "li\t11\tINSP",
        "li\t11\t0",
        "efu",
        "efi",
        "edi",
        "# comment",
        "",
        "3:script.lua",
        "1 0 2 ",
        "1 0 18446744073709551615 ",
    };
    const char *head = n_bytes % 2 ? "di\t.\t0\t0\t0\t0\t0\t0\t0\n" : "3:script.lua\n1 2 0 \n";
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
