/* file_name.h: conversions in the names of profiles and traces: %p, %n ... */
#ifndef QP_FORMAT_FILE_NAME_H
#define QP_FORMAT_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What names are made of, besides host and time. */
typedef struct {
    const char *program, *program_path;
    long pid, thread; /* as the system numbers them */
    uint32_t dataset;
} qp_name_facts;

/* What a conversion yields, now: letters, digits, '.', '_' and '-' (%t: ':', too), so that a
 * program's name never becomes a path. @return false: it is no conversion */
bool qp_name_convert(const qp_name_facts *facts, char letter, char *out, size_t n_bytes);

#endif
