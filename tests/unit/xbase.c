/* xbase.c: see xbase.h. */
#include "unit/xbase.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

qp_prf trace;
qp_prf_reader reader;
char bytes[XBASE_ROOM], others[XBASE_ROOM];

const qp_prf_options table = {.has_time = true,
                              .has_line = true,
                              .symbol_bytes = 20,
                              .flush_every = 1000,
                              .day = {126, 11, 21}};

size_t slurp(const char *path, char *to)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, XBASE_ROOM, f) : 0;
    if (f)
        fclose(f);
    return n;
}

void spit(const char *path, const char *from, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, n, f), n);
    fclose(f);
}

bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool put(uint32_t thread, uint64_t ms, char op, const char *call, uint32_t line,
         const char *params)
{
    const qp_prf_row row = {thread, line, ms, op, call, strlen(call), params, strlen(params)};
    return qp_prf_put(&trace, &row);
}

bool put_row(unsigned i)
{
    char call[32];
    snprintf(call, sizeof call, "F%u", i);
    return put(1 + i % 3, i * 10, "IO"[i % 2], call, i, i % 2 ? "x, \"y\"" : "");
}

void put_rows(const char *path, const qp_prf_options *o, unsigned n)
{
    assert_int_equal(qp_prf_open(&trace, path, o), 0);
    for (unsigned i = 1; i <= n; i++)
        assert_true(put_row(i));
    assert_int_equal(qp_prf_close(&trace), 0);
}

void assert_rows(const char *path, unsigned first, unsigned last)
{
    const char *why;
    qp_prf_row row;
    assert_true(qp_prf_reader_open(&reader, path, &why));
    for (unsigned i = first; i <= last; i++) {
        char call[32];
        snprintf(call, sizeof call, "F%u", i);
        assert_true(qp_prf_reader_next(&reader, &row));
        assert_int_equal(row.thread, 1 + i % 3);
        assert_int_equal(row.op, "IO"[i % 2]);
        assert_int_equal(row.call_bytes, strlen(call));
        assert_memory_equal(row.call, call, row.call_bytes);
        assert_int_equal(row.time_ms, reader.has_time ? i * 10 : 0);
        assert_int_equal(row.line, reader.has_line ? i : 0);
        const char *params = reader.has_params && i % 2 ? "x, \"y\"" : "";
        assert_int_equal(row.params_bytes, strlen(params));
        assert_memory_equal(row.params, params, row.params_bytes);
    }
    assert_false(qp_prf_reader_next(&reader, &row));
    assert_int_equal(reader.n_damaged, 0);
    assert_int_equal(reader.n_rest, 0 + (reader.n_rest == 1 && !reader.is_text));
    qp_prf_reader_close(&reader);
}

qp_prf_options in_packets(qp_prf_options o, uint32_t every)
{
    o.is_flushed = o.is_packets = true;
    o.flush_every = every;
    return o;
}
