/* fuzz_texts.c: any bytes as an adjustments file, a source with markers, a patch, a glob. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/text/glob.h"
#include "model/cover/cover.h"

static char *text_of(const uint8_t *data, size_t n_bytes)
{
    char *text = malloc(n_bytes + 1);
    memcpy(text, data, n_bytes);
    text[n_bytes] = '\0';
    return text;
}

static void ask(const qp_adjust *a)
{
    static qp_out out;
    for (size_t i = 0; i < a->n_files; i++)
        for (unsigned mark = QP_ANNOTATION_DEADCODE; mark <= QP_ANNOTATION_INSPECTED; mark++)
            qp_adjust_lines(&a->files[i], (qp_annotation)mark, 100);
    int fd = open("/dev/null", O_WRONLY);
    qp_out_init(&out, fd);
    qp_adjust_write(a, &out);
    qp_out_close(&out);
    close(fd);
}

static void as_adjustments(const char *text, size_t n_bytes)
{
    static const char first[] = "PureCoverage Adjustments File 1.0\n";
    qp_error error;
    char *whole = malloc(sizeof first + n_bytes);
    memcpy(whole, first, sizeof first - 1);
    memcpy(whole + sizeof first - 1, text, n_bytes);
    qp_adjust *a = qp_adjust_new();
    qp_adjust_read_text(a, text, n_bytes, "fuzz", &error);
    if (!qp_adjust_read_text(a, whole, sizeof first - 1 + n_bytes, "fuzz", &error))
        abort();
    ask(a);
    qp_adjust_free(a);
    free(whole);
}

static void as_source(const char *text, size_t n_bytes)
{
    enum { LINES = 64 };
    const char *lines[LINES];
    uint32_t line_bytes[LINES];
    qp_source s = {.lines = lines, .line_bytes = line_bytes};
    for (const char *at = text, *end = text + n_bytes; at < end && s.n_lines < LINES;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        lines[s.n_lines] = at;
        line_bytes[s.n_lines++] = (uint32_t)((newline ? newline : end) - at);
        at = newline ? newline + 1 : end;
    }
    qp_adjust *a = qp_adjust_new();
    qp_adjust_scan(a, "fuzz", 1, &s);
    ask(a);
    qp_adjust_free(a);
}

static void as_patch(const char *text, size_t n_bytes)
{
    qp_error error;
    qp_patch *p = qp_patch_read(text, n_bytes, &error);
    if (!p == !error.text[0])
        abort();
    for (size_t i = 0; p && i < p->n_files; i++)
        for (size_t k = 0; k < p->files[i].n_spans; k++) {
            qp_patch_span span = p->files[i].spans[k];
            if (!span.first || span.last < span.first ||
                (k && span.first <= p->files[i].spans[k - 1].last + 1))
                abort();
        }
    qp_patch_free(p);
}

static void as_glob(const char *text)
{
    const char *second = text + strlen(text) / 2;
    qp_glob_fits_path(text, second);
    qp_glob_fits_name(second, text);
    if (!qp_glob_fits_path("**", text) || !qp_glob_fits_name("*", text))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text = text_of(data, n_bytes);
    as_adjustments(text, n_bytes);
    as_source(text, n_bytes);
    as_patch(text, n_bytes);
    as_glob(text);
    free(text);
    return 0;
}
