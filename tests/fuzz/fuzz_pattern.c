/* fuzz_pattern.c: any text as a call pattern, against a stack made of its bytes. */
#include <stdlib.h>
#include <string.h>

#include "code/pattern.h"

static bool frame_fits(void *to, const qp_item *item, uint32_t frame)
{
    const unsigned char *bytes = to;
    return (bytes[frame] + item->module) % 3 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static qp_pattern p;
    qp_error error;
    char *text = malloc(n_bytes + 1);
    memcpy(text, bytes, n_bytes);
    text[n_bytes] = '\0';
    if (qp_pattern_parse(&p, text, &error) == QP_PARSE_OK) {
        uint32_t n_frames = n_bytes > 300 ? 300 : (uint32_t)n_bytes;
        size_t n_scratch = qp_pattern_scratch(&p, n_frames);
        void *scratch = malloc(n_scratch);
        const qp_pattern_stack stack = {n_frames, n_frames && bytes[0] & 1, frame_fits,
                                        (void *)(uintptr_t)bytes};
        int64_t charged;
        uint32_t n_deep;
        qp_pattern_answer m =
            qp_pattern_match(&p, &stack, scratch, n_scratch, &charged, &n_deep);
        if (m == QP_PATTERN_NO_MEMORY ||
            (m == QP_PATTERN_YES && (charged >= (int64_t)n_frames || n_deep > n_frames)))
            abort();
        free(scratch);
    }
    free(text);
    return 0;
}
