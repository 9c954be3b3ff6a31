/* import.h: what random files of other tools are read for. */
#ifndef TESTS_FUZZ_IMPORT_H
#define TESTS_FUZZ_IMPORT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/error.h"
#include "model/figures/figures.h"
#include "model/model.h"

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

/* Read, checked, and an error is one line. */
static qp_load_status load(const void *bytes, size_t n_bytes)
{
    qp_error error;
    qp_model *m;
    qp_load_status status = qp_model_load_bytes(bytes, n_bytes, NULL, &m, &error);
    expect((status == QP_LOAD_UNUSABLE) == (error.text[0] != '\0') &&
           !strchr(error.text, '\n'));
    if (status == QP_LOAD_UNUSABLE)
        return status;
    qp_check *checks;
    size_t n;
    expect(qp_model_check(m, &checks, &n));
    for (size_t i = 0; m->run.is_imported && i < n; i++)
        expect(checks[i].passed);
    qp_free(checks);
    qp_model_free(m);
    return status;
}

enum { TEXT_MAX = 1 << 16 };

/* Compose a text of these lines after its head: each byte is a line, or a change of the previous one.
 * @param text  [TEXT_MAX] @return bytes of it */
static inline size_t compose_lines(char *text, const char *head, const char *const *lines,
                                   size_t n_lines, const uint8_t *data, size_t n_bytes)
{
    enum { LINE_MAX_BYTES = 64 };
    size_t at = (size_t)(stpcpy(text, head) - text);
    for (; n_bytes > 0 && at < TEXT_MAX - LINE_MAX_BYTES; data++, n_bytes--) {
        if (*data < n_lines) {
            at = (size_t)(stpcpy(text + at, lines[*data]) - text);
            text[at++] = '\n';
        } else if (*data >= 0x80 && n_bytes > 1) {
            text[at - 1 - (*data & 0x0F)] = (char)data[1];
        }
    }
    return at;
}

#endif
