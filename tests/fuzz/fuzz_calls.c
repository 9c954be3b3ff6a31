/* fuzz_calls.c: programs of tests/model/driver.h, found by libFuzzer. A difference to the naive
 * profiler is a crash. It works in a folder of its own: name a corpus by its absolute path. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/driver.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static char folder[] = "/tmp/qprof-fuzz-XXXXXX";
    static int is_ready;
    driver_result result;
    if (!is_ready) {
        if (!mkdtemp(folder) || chdir(folder))
            abort();
        is_ready = 1;
    }
    if (!driver_run(bytes, n_bytes, &result)) {
        fprintf(stderr, "%s\n", result.difference);
        abort();
    }
    return 0;
}
