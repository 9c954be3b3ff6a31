/* test_tables.c: the tables of the documentation say what the code says, row by row.
 *
 * A page is right if it holds exactly the rows that are made here from the code's own tables;
 * the last column of a table that explains is left to people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/layout.h"
#include "format/options.h"
#include "format/trace.h"

typedef struct {
    const char *struct_name, *name;
    size_t offset, n_bytes, struct_bytes;
} field;

#define FIELD(type, name)                                                                      \
    {                                                                                          \
#type, #name, offsetof(type, name), sizeof(((type *)NULL)->name), sizeof(type)         \
    }

static const field fields[] = {
    FIELD(qp_head, magic),
    FIELD(qp_head, major),
    FIELD(qp_head, minor),
    FIELD(qp_head, endian),
    FIELD(qp_head, head_bytes),
    FIELD(qp_head, state),
    FIELD(qp_head, nonce),
    FIELD(qp_head, n_cells),
    FIELD(qp_head, flags),
    FIELD(qp_head, time_mode),
    FIELD(qp_head, clock_kind),
    FIELD(qp_head, user_clock),
    FIELD(qp_head, wait_clock),
    FIELD(qp_head, clock_source),
    FIELD(qp_head, grain),
    FIELD(qp_head, pointer_bytes),
    FIELD(qp_head, tick_0),
    FIELD(qp_head, ns_0),
    FIELD(qp_head, tick_1),
    FIELD(qp_head, ns_1),
    FIELD(qp_head, pid),
    FIELD(qp_head, pid_start),
    FIELD(qp_head, started_at),
    FIELD(qp_head, ended_at),
    FIELD(qp_head, end_raw),
    FIELD(qp_head, begun_raw),
    FIELD(qp_head, stopped_total),
    FIELD(qp_head, stopped_since),
    FIELD(qp_head, stop_change),
    FIELD(qp_head, clear_raw),
    FIELD(qp_head, clear_count),
    FIELD(qp_head, dataset),
    FIELD(qp_head, cost_entry),
    FIELD(qp_head, cost_exit),
    FIELD(qp_head, cost_inside),
    FIELD(qp_head, sample_period),
    FIELD(qp_head, n_passes),
    FIELD(qp_head, sample_ns),
    FIELD(qp_head, program),
    FIELD(qp_head, options),
    FIELD(qp_head, host),
    FIELD(qp_head, module),
    FIELD(qp_head, label),
    FIELD(qp_head, version),
    FIELD(qp_head, notes),
    FIELD(qp_head, n_threads),
    FIELD(qp_head, memory_limit),
    FIELD(qp_head, n_methods),
    FIELD(qp_head, clear_stopped),
    FIELD(qp_head, collect),
    FIELD(qp_head, context),
    FIELD(qp_head, context_clears),
    FIELD(qp_head, pc_period),
    FIELD(qp_head, n_critical),
    FIELD(qp_head, pc_pattern),
    FIELD(qp_head, pc_kind),
    FIELD(qp_head, trace_file),
    FIELD(qp_head, spool),
    FIELD(qp_head, pc_reached),
    FIELD(qp_head, coarse_period),
    FIELD(qp_head, cost_host),
    FIELD(qp_head, cost_native),
    FIELD(qp_head, watch_ns),
    FIELD(qp_head, cut),
    FIELD(qp_head, spool_dropped),
    FIELD(qp_head, metrics),
    FIELD(qp_head, reserved0),
    FIELD(qp_head, reserved),
    FIELD(qp_head, script),
    FIELD(qp_head, arguments),
    FIELD(qp_head, folder),
    FIELD(qp_head, host_version),
    FIELD(qp_head, labels),
    FIELD(qp_head, checksum),
    FIELD(qp_head, diagnostics),
    FIELD(qp_head, request),
    FIELD(qp_head, answer),
    FIELD(qp_head, answer_code),
    FIELD(qp_head, bell),
    FIELD(qp_head, request_file),
    FIELD(qp_head, answer_text),
    FIELD(qp_head, findings),
    FIELD(qp_head, run_at),
    FIELD(qp_head, n_sealed),
    FIELD(qp_head, reserved2),
    FIELD(qp_finding, count),
    FIELD(qp_finding, n_looked),
    FIELD(qp_finding, wanted),
    FIELD(qp_finding, found),
    FIELD(qp_finding, method),
    FIELD(qp_finding, other),
    FIELD(qp_finding, depth),
    FIELD(qp_finding, thread),
    FIELD(qp_extent, magic),
    FIELD(qp_extent, self),
    FIELD(qp_extent, n_cells),
    FIELD(qp_extent, kind),
    FIELD(qp_extent, owner),
    FIELD(qp_extent, n_used),
    FIELD(qp_extent, prev),
    FIELD(qp_extent, next),
    FIELD(qp_extent, nonce),
    FIELD(qp_extent, base_depth),
    FIELD(qp_extent, moved_from),
    FIELD(qp_extent, checksum),
    FIELD(qp_extent, reserved),
    FIELD(qp_method, id),
    FIELD(qp_method, flags),
    FIELD(qp_method, name),
    FIELD(qp_method, class_name),
    FIELD(qp_method, file),
    FIELD(qp_method, module),
    FIELD(qp_method, lines),
    FIELD(qp_method, jumps),
    FIELD(qp_method, ordinal),
    FIELD(qp_method, published),
    FIELD(qp_method, calls_next),
    FIELD(qp_method, calls_now),
    FIELD(qp_method, calls_seen),
    FIELD(qp_thread_record, top),
    FIELD(qp_thread_record, last),
    FIELD(qp_thread_record, offset),
    FIELD(qp_thread_record, n_exits),
    FIELD(qp_thread_record, n_unwound),
    FIELD(qp_thread_record, suspended_at),
    FIELD(qp_thread_record, counts),
    FIELD(qp_thread_record, n_deep),
    FIELD(qp_thread_record, index),
    FIELD(qp_thread_record, host_id),
    FIELD(qp_thread_record, vt_id),
    FIELD(qp_thread_record, name),
    FIELD(qp_thread_record, ordinal),
    FIELD(qp_thread_record, state),
    FIELD(qp_thread_record, n_lives),
    FIELD(qp_thread_record, root),
    FIELD(qp_thread_record, chunk),
    FIELD(qp_thread_record, nodes),
    FIELD(qp_thread_record, aux),
    FIELD(qp_thread_record, counter_blocks),
    FIELD(qp_thread_record, clear_count),
    FIELD(qp_thread_record, stopped_seen),
    FIELD(qp_thread_record, n_destroyed_live),
    FIELD(qp_thread_record, n_unsettled),
    FIELD(qp_thread_record, n_dropped),
    FIELD(qp_thread_record, n_deep_total),
    FIELD(qp_thread_record, n_overflowed),
    FIELD(qp_thread_record, n_cleared),
    FIELD(qp_thread_record, n_drift),
    FIELD(qp_thread_record, system_id),
    FIELD(qp_thread_record, has_host_id),
    FIELD(qp_thread_record, has_tokens),
    FIELD(qp_thread_record, wall_at),
    FIELD(qp_thread_record, cpu_at),
    FIELD(qp_thread_record, off_open),
    FIELD(qp_thread_record, off_since),
    FIELD(qp_thread_record, n_apart),
    FIELD(qp_thread_record, apart_ticks),
    FIELD(qp_thread_record, creator),
    FIELD(qp_thread_record, skip_ticks),
    FIELD(qp_node, n_calls),
    FIELD(qp_node, self),
    FIELD(qp_node, self_min),
    FIELD(qp_node, self_max),
    FIELD(qp_node, begun),
    FIELD(qp_node, last),
    FIELD(qp_node, next),
    FIELD(qp_node, parent),
    FIELD(qp_node, method),
    FIELD(qp_node, more),
    FIELD(qp_node_more, n_skips),
    FIELD(qp_node_more, counts),
    FIELD(qp_node_more, samples),
    FIELD(qp_node_more, n_resumes),
    FIELD(qp_node_more, counters),
    FIELD(qp_node_more, time_counters),
    FIELD(qp_node_more, overflow),
    FIELD(qp_node_more, kids),
    FIELD(qp_node_more, ring),
    FIELD(qp_node_more, timing),
    FIELD(qp_node_more, metrics),
    FIELD(qp_node_more, requests),
    FIELD(qp_node_metrics, bytes),
    FIELD(qp_node_metrics, objects),
    FIELD(qp_node_metrics, freed_bytes),
    FIELD(qp_node_metrics, freed_objects),
    FIELD(qp_node_metrics, off),
    FIELD(qp_node_metrics, values),
    FIELD(qp_node_metrics, waits),
    FIELD(qp_node_metrics, reserved),
    FIELD(qp_node_values, sums),
    FIELD(qp_lock_wait, n),
    FIELD(qp_lock_wait, ns),
    FIELD(qp_lock_wait, longest_ns),
    FIELD(qp_lock_wait, next),
    FIELD(qp_lock_wait, holder),
    FIELD(qp_lock_wait, lock),
    FIELD(qp_lock_wait, reserved),
    FIELD(qp_lock_wait, reserved2),
    FIELD(qp_node_requests, n_begun),
    FIELD(qp_node_requests, n_ended),
    FIELD(qp_node_requests, n_failed),
    FIELD(qp_node_requests, n_timed),
    FIELD(qp_node_requests, elapsed_ns),
    FIELD(qp_node_requests, slowest_ns),
    FIELD(qp_node_requests, slowest_at),
    FIELD(qp_node_requests, slowest_trace),
    FIELD(qp_node_requests, slowest_span),
    FIELD(qp_node_requests, trace),
    FIELD(qp_node_requests, span),
    FIELD(qp_node_requests, begun),
    FIELD(qp_node_requests, is_counted),
    FIELD(qp_node_requests, endpoint),
    FIELD(qp_node_requests, first_step),
    FIELD(qp_node_requests, outer),
    FIELD(qp_node_timing, beyond),
    FIELD(qp_node_timing, covered),
    FIELD(qp_node_timing, n_timed),
    FIELD(qp_node_timing, variance),
    FIELD(qp_node_timing, next_block),
    FIELD(qp_node_timing, mean),
    FIELD(qp_node_timing, mean_square),
    FIELD(qp_node_timing, shift),
    FIELD(qp_node_timing, next_shift),
    FIELD(qp_node_timing, reserved),
    FIELD(qp_frame, stack_id),
    FIELD(qp_frame, node),
    FIELD(qp_frame, start),
    FIELD(qp_frame, mark_at),
    FIELD(qp_frame, mark_self),
    FIELD(qp_frame, method_id),
    FIELD(qp_frame, flags),
    FIELD(qp_frame, low),
    FIELD(qp_frame, block),
    FIELD(qp_frame, reserved),
    FIELD(qp_counter_block, n_cells),
    FIELD(qp_counter_block, kind),
    FIELD(qp_counter_block, method),
    FIELD(qp_counter_block, n_values),
    FIELD(qp_counter_block, n_blocks),
    FIELD(qp_counter_block, seen),
    FIELD(qp_counter_block, base),
    FIELD(qp_counter_block, context),
    FIELD(qp_counter_block, calls),
    FIELD(qp_counter_block, clear_count),
    FIELD(qp_counter_block, row),
    FIELD(qp_counter_block, reserved),
    FIELD(qp_counter_block, reserved2),
    FIELD(qp_counter_block, values),
    FIELD(qp_context, name),
    FIELD(qp_context, ordinal),
    FIELD(qp_context, published),
    FIELD(qp_context, reserved),
    FIELD(qp_context, n_switches),
    FIELD(qp_context, reserved2),
    FIELD(qp_marker, at),
    FIELD(qp_marker, thread),
    FIELD(qp_marker, kind),
    FIELD(qp_marker, name),
    FIELD(qp_marker, event),
    FIELD(qp_marker, object),
    FIELD(qp_marker, value),
    FIELD(qp_marker, published),
    FIELD(qp_marker, reserved),
    FIELD(qp_marker, reserved2),
    FIELD(qp_event_count, id),
    FIELD(qp_event_count, published),
    FIELD(qp_event_count, count),
    FIELD(qp_event_count, reserved),
    FIELD(qp_waiting, n_passes),
    FIELD(qp_waiting, ticks),
    FIELD(qp_waiting, n_samples),
    FIELD(qp_waiting, thread),
    FIELD(qp_waiting, reserved),
    FIELD(qp_waiting, off),
    FIELD(qp_waiting, reserved2),
    FIELD(qp_kept_part, next),
    FIELD(qp_kept_part, number),
    FIELD(qp_kept_part, n_steps),
    FIELD(qp_kept_part, published),
    FIELD(qp_kept, path),
    FIELD(qp_kept, thread),
    FIELD(qp_kept, flags),
    FIELD(qp_kept, window),
    FIELD(qp_kept, begun_raw),
    FIELD(qp_kept, ended_raw),
    FIELD(qp_kept, n_before),
    FIELD(qp_kept, n_after),
    FIELD(qp_kept, trace),
    FIELD(qp_kept, span),
    FIELD(qp_kept, reserved),
    FIELD(qp_kept, sibling),
    FIELD(qp_source_record, path),
    FIELD(qp_source_record, published),
    FIELD(qp_source_record, digest),
    FIELD(qp_source_record, n_bytes),
    FIELD(qp_source_record, map),
    FIELD(qp_source_record, reserved0),
    FIELD(qp_source_record, reserved),
    FIELD(qp_text, n_bytes),
    FIELD(qp_text, bytes),
    FIELD(qp_lines, n_lines),
    FIELD(qp_lines, flags),
    FIELD(qp_lines, lines),
    FIELD(qp_jumps, n_jumps),
    FIELD(qp_jumps, n_blocks),
    FIELD(qp_jumps, jumps),
    FIELD(qp_note, next),
    FIELD(qp_note, text),
    FIELD(qp_note, kind),
    FIELD(qp_note, dataset),
    FIELD(qp_note, at),
    FIELD(qp_metric, next),
    FIELD(qp_metric, name),
    FIELD(qp_metric, unit),
    FIELD(qp_metric, number),
};

static const field trace_fields[] = {
    FIELD(qp_trace_record, word),
    FIELD(qp_trace_record, a),
    FIELD(qp_trace_record, b),
    FIELD(qp_ring, head),
    FIELD(qp_ring, tail),
    FIELD(qp_ring, n_lost),
    FIELD(qp_ring, system_id),
    FIELD(qp_ring, n_slots),
    FIELD(qp_ring, os_thread),
    FIELD(qp_ring, thread),
    FIELD(qp_ring, is_ended),
    FIELD(qp_ring, reserved),
    FIELD(qp_trace_file, magic),
    FIELD(qp_trace_file, endian),
    FIELD(qp_trace_file, major),
    FIELD(qp_trace_file, minor),
    FIELD(qp_trace_file, nonce),
    FIELD(qp_trace_file, pid),
    FIELD(qp_trace_file, started_at),
    FIELD(qp_trace_file, begun_raw),
    FIELD(qp_trace_file, clock_source),
    FIELD(qp_trace_file, is_virtual),
    FIELD(qp_trace_file, program),
    FIELD(qp_trace_file, host),
    FIELD(qp_packet, magic),
    FIELD(qp_packet, kind),
    FIELD(qp_packet, n_bytes),
    FIELD(qp_packet, sum),
    FIELD(qp_packet, nonce),
    FIELD(qp_packet, sequence),
    FIELD(qp_packet, first_record),
    FIELD(qp_packet, first_ticks),
    FIELD(qp_packet, n_records),
    FIELD(qp_packet, names),
    FIELD(qp_packet, os_thread),
    FIELD(qp_packet, ring),
    FIELD(qp_packet, thread),
    FIELD(qp_packet, path),
};

enum {
    N_FIELDS = sizeof fields / sizeof *fields,
    N_TRACE_FIELDS = sizeof trace_fields / sizeof *trace_fields,
    ROW_BYTES = 2048
};

/* Words of docs/formats/qtrace.md and their numbers. */
static const struct {
    const char *name;
    unsigned number;
} trace_words[] = {
    {"NONE", QP_TRACE_NONE},       {"ENTRY", QP_TRACE_ENTRY},
    {"EXIT", QP_TRACE_EXIT},       {"SWITCH", QP_TRACE_SWITCH},
    {"SUSPEND", QP_TRACE_SUSPEND}, {"GATE", QP_TRACE_GATE},
    {"MARKER", QP_TRACE_MARKER},   {"COUNTER", QP_TRACE_COUNTER},
    {"CALL", QP_TRACE_CALL},       {"RETURN", QP_TRACE_RETURN},
    {"LINE", QP_TRACE_LINE},       {"VALUE", QP_TRACE_VALUE},
    {"SAMPLE", QP_TRACE_SAMPLE},   {"LOST", QP_TRACE_LOST},
    {"TEXT", QP_TRACE_TEXT},       {"DATA", QP_TRACE_DATA},
    {"EVENTS", QP_PACKET_EVENTS},  {"NAMES", QP_PACKET_NAMES},
    {"CLOCK", QP_PACKET_CLOCK},    {"END", QP_PACKET_END},
    {"PART", QP_PACKET_PART},      {"NO_TICKS", QP_PACKED_NO_TICKS},
    {"PLAIN", QP_PACKED_PLAIN},    {"METHOD", QP_NAMES_METHOD},
    {"PATH", QP_NAMES_PATH},       {"THREAD", QP_NAMES_THREAD},
    {"TEXT", QP_NAMES_TEXT},
};

/* ---- pages ------------------------------------------------------------------------------- */

static FILE *open_page(const char *name)
{
    const char *source = getenv("QPROF_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/docs/%s", source ? source : ".", name);
    FILE *page = fopen(path, "r");
    if (!page)
        fail_msg("cannot open %s", path);
    return page;
}

/* The next line that begins with "| `" and then with prefix; without its newline. */
static bool next_row(FILE *page, const char *prefix, char row[ROW_BYTES])
{
    while (fgets(row, ROW_BYTES, page)) {
        row[strcspn(row, "\n")] = '\0';
        if (!strncmp(row, "| `", 3) && !strncmp(row + 3, prefix, strlen(prefix)))
            return true;
    }
    return false;
}

/* Words of a choice, in a table cell: "a|b" as `a`, `b`. */
static void print_choice(char *out, size_t n_bytes, const char *values)
{
    size_t n = 0;
    for (const char *word = values; *word;
         word += strcspn(word, "|") + (strchr(word, '|') != NULL))
        n += (size_t)snprintf(out + n, n_bytes - n, "%s`%.*s`", n ? ", " : "",
                              (int)strcspn(word, "|"), word);
}

/* ---- tests ------------------------------------------------------------------------------- */

static void assert_fields(const char *name, const field *all, size_t n)
{
    FILE *page = open_page(name);
    char row[ROW_BYTES], wanted[ROW_BYTES];
    for (size_t i = 0; i < n; i++) {
        const field *f = &all[i];
        snprintf(wanted, sizeof wanted, "| `%s.%s` | %zu | %zu | ", f->struct_name, f->name,
                 f->offset, f->n_bytes);
        assert_true(next_row(page, "qp_", row));
        row[strlen(wanted) < strlen(row) ? strlen(wanted) : strlen(row)] = '\0';
        assert_string_equal(row, wanted);
    }
    assert_false(next_row(page, "qp_", row));
    fclose(page);
}

static void the_layout_pages_have_every_field_where_it_is(void **state)
{
    (void)state;
    assert_fields("formats/qprof.md", fields, N_FIELDS);
    assert_fields("formats/qtrace.md", trace_fields, N_TRACE_FIELDS);
}

static void assert_no_gaps(const field *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const field *f = &all[i];
        bool is_last = i + 1 == n || strcmp(f[1].struct_name, f->struct_name) != 0;
        assert_int_equal(f->offset + f->n_bytes, is_last ? f->struct_bytes : f[1].offset);
    }
}

static void the_fields_leave_no_byte_of_a_record_out(void **state)
{
    (void)state;
    assert_no_gaps(fields, N_FIELDS);
    assert_no_gaps(trace_fields, N_TRACE_FIELDS);
}

static void the_trace_page_has_the_number_of_every_word(void **state)
{
    (void)state;
    FILE *page = open_page("formats/qtrace.md");
    char row[ROW_BYTES], wanted[ROW_BYTES];
    for (size_t i = 0; i < sizeof trace_words / sizeof *trace_words; i++) {
        do
            assert_true(next_row(page, "", row));
        while (!strncmp(row, "| `qp_", 6));
        snprintf(wanted, sizeof wanted, "| `%s` | %u | ", trace_words[i].name,
                 trace_words[i].number);
        row[strlen(wanted) < strlen(row) ? strlen(wanted) : strlen(row)] = '\0';
        assert_string_equal(row, wanted);
    }
    while (next_row(page, "", row))
        assert_int_equal(strncmp(row, "| `qp_", 6), 0);
    fclose(page);
}

static void the_options_page_has_every_option_of_the_table(void **state)
{
    (void)state;
    FILE *page = open_page("options.md");
    char row[ROW_BYTES], wanted[2 * ROW_BYTES], values[ROW_BYTES];
    for (unsigned i = 0; i < QP_N_OPTIONS; i++) {
        const char *initial = qp_option_initial((qp_option)i);
        const qp_option_kind kind = qp_option_kind_of((qp_option)i);
        if (kind == QP_OPTION_BOOL)
            print_choice(values, sizeof values, "yes|no");
        else if (kind == QP_OPTION_WORD || kind == QP_OPTION_SET || kind == QP_OPTION_TEXT)
            print_choice(values, sizeof values, qp_option_values((qp_option)i));
        else
            snprintf(values, sizeof values, "%.*s to %s",
                     (int)strcspn(qp_option_values((qp_option)i), "."),
                     qp_option_values((qp_option)i),
                     strrchr(qp_option_values((qp_option)i), '.') + 1);
        snprintf(wanted, sizeof wanted, "| `-%s` | %s%s%s | %s | %s |",
                 qp_option_name((qp_option)i), *initial ? "`" : "", initial,
                 *initial ? "`" : "", values, qp_option_help[i]);
        assert_true(next_row(page, "-", row));
        assert_string_equal(row, wanted);
    }
    assert_false(next_row(page, "-", row));
    fclose(page);
}

static void the_diagnostics_page_has_every_counter_in_order(void **state)
{
    (void)state;
    static const char *const rows[] = {
#define QP_X(name, kind, text) "| `" #name "` | " #kind " | " text " |",
        QP_DIAGNOSTICS(QP_X)
#undef QP_X
#define QP_X(name, text) "| `" #name "` | N | " text " |",
            QP_IDENTITY_TERMS(QP_X)
#undef QP_X
    };
    FILE *page = open_page("diagnostics.md");
    char row[ROW_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(next_row(page, "", row));
        assert_string_equal(row, rows[i]);
    }
    assert_false(next_row(page, "", row));
    fclose(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_pages_have_every_field_where_it_is),
        cmocka_unit_test(the_fields_leave_no_byte_of_a_record_out),
        cmocka_unit_test(the_trace_page_has_the_number_of_every_word),
        cmocka_unit_test(the_options_page_has_every_option_of_the_table),
        cmocka_unit_test(the_diagnostics_page_has_every_counter_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
