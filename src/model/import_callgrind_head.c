/* import_callgrind_head.c: what callgrind's files say of themselves: of which event the costs are,
 * in which columns they stand, and how much they are. */
#include <string.h>

#include "model/import_callgrind.h"
#include "model/private.h"

enum { EVENTS_MAX = 256, PARTS_APART = 1 << 20 };

/* "Time_(10ns)", "wall_ns": what is behind the last '_'. */
static qp_import_unit unit_of(const char *event)
{
    const char *word = strrchr(event, '_');
    if (!word)
        return (qp_import_unit){false, 1};
    word += 1 + (word[1] == '(');
    return qp_import_unit_of(word, strcspn(word, ")"));
}

/* The event that is read: the one that was asked for, else the first time, else the first. */
static bool choose_event(qp_callgrind *c, qp_words w, uint32_t *n_events)
{
    const char *wanted = c->has_events ? c->event_name : c->im->wanted;
    char word[QP_WORD_BYTES];
    bool is_time = false, is_found = false;
    for (*n_events = 0; qp_words_next(&w, word) && *n_events < EVENTS_MAX; ++*n_events) {
        bool is_better = wanted ? strcmp(word, wanted) == 0
                                : *n_events == 0 || (!is_time && unit_of(word).is_time);
        c->has_calls_event |= strcmp(word, "Calls") == 0;
        c->has_samples_event |= strcmp(word, "Samples") == 0;
        if (!is_better)
            continue;
        is_time = unit_of(word).is_time;
        is_found = true;
        c->event = *n_events;
        memcpy(c->event_name, word, sizeof word);
    }
    return is_found;
}

bool qp_callgrind_events(qp_callgrind *c, qp_words w)
{
    uint32_t n_events;
    qp_head *h = &c->im->head;
    char missing[QP_WORD_BYTES * 2];
    qp_text_format(missing, sizeof missing, "there is no event %.60s here",
                   c->has_events   ? c->event_name
                   : c->im->wanted ? c->im->wanted
                                   : "at all");
    if (!choose_event(c, w, &n_events))
        return qp_callgrind_refuse(c, missing);
    bool is_first = !c->has_events;
    c->has_events = true;
    if (!is_first)
        return true;
    qp_import_unit unit = unit_of(c->event_name);
    c->scale = unit.scale;
    c->is_time = unit.is_time;
    c->is_calls_only = c->is_ours && strcmp(c->event_name, "Calls") == 0;
    h->time_mode = c->is_calls_only ? QP_TIME_NONE : QP_TIME_EXACT;
    h->clock_kind = !unit.is_time                           ? QP_CLOCK_COUNTS
                    : strncmp(c->event_name, "cpu", 3) == 0 ? QP_CLOCK_USER_KERNEL
                                                            : QP_CLOCK_ELAPSED;
    h->clock_source = unit.is_time ? QP_SOURCE_HOST : QP_SOURCE_UNITS;
    if (!unit.is_time && !c->is_calls_only)
        qp_import_note(c->im, "counts are events %s", c->event_name);
    if (c->is_ours && c->has_samples_event)
        qp_import_note(c->im,
                       "times were estimated from samples, and their intervals are not known");
    if (n_events > 1 + (uint32_t)c->is_ours)
        qp_import_note(c->im, "of its events only %s was read, of: %.*s", c->event_name,
                       (int)(w.end - w.at < 300 ? w.end - w.at : 300), w.at);
    return true;
}

bool qp_callgrind_positions(qp_callgrind *c, qp_words w)
{
    char word[QP_WORD_BYTES];
    c->n_columns = 0;
    c->line_column = QP_CALLGRIND_COLUMNS - 1;
    for (; qp_words_next(&w, word); c->n_columns++) {
        if (c->n_columns == QP_CALLGRIND_COLUMNS - 1)
            return qp_callgrind_refuse(c, "more kinds of positions than there are");
        if (strcmp(word, "line") == 0)
            c->line_column = c->n_columns;
    }
    return true;
}

bool qp_callgrind_command(qp_callgrind *c, qp_words w)
{
    qp_words_skip(&w);
    const char *end = memchr(w.at, ' ', (size_t)(w.end - w.at));
    const char *path = qp_import_text(c->im, w.at, (size_t)((end ? end : w.end) - w.at));
    c->im->program = path ? qp_import_base_name(path) : NULL;
    return true;
}

bool qp_callgrind_creator(qp_callgrind *c, qp_words w)
{
    char word[QP_WORD_BYTES + 16];
    qp_words_skip(&w);
    qp_text_format(word, sizeof word, "callgrind format of %.*s",
                   (int)(w.end - w.at < QP_WORD_BYTES ? w.end - w.at : QP_WORD_BYTES), w.at);
    c->is_ours = qp_words_begin(&w, "qprof ");
    c->im->recorder = qp_import_text(c->im, word, strlen(word));
    return true;
}

bool qp_callgrind_pid(qp_callgrind *c, qp_words w)
{
    qp_words_skip(&w);
    return qp_words_number(&w, &c->im->head.pid) || qp_callgrind_refuse(c, "expected a number");
}

bool qp_callgrind_thread(qp_callgrind *c, qp_words w)
{
    uint64_t n;
    qp_words_skip(&w);
    if (!qp_words_number(&w, &n) || n > PARTS_APART)
        return qp_callgrind_refuse(c, "expected the number of a thread");
    c->thread = (uint32_t)n;
    return true;
}

bool qp_callgrind_part(qp_callgrind *c, qp_words w)
{
    (void)w;
    c->is_body = false;
    return true;
}

/* The sum of a part's own costs, which valgrind and qprof write before them and others, as they
 * please, behind. */
bool qp_callgrind_summary(qp_callgrind *c, qp_words w)
{
    uint64_t value = 0;
    for (uint32_t i = 0; c->has_events && !c->is_body && i <= c->event; i++) {
        qp_words_skip(&w);
        if (w.at == w.end)
            return true; /* the rest is 0 */
        if (!qp_words_number(&w, &value))
            return qp_callgrind_refuse(c, "expected a number, of 64 bits at most");
    }
    if (c->has_events && !c->is_body)
        c->promised = qp_sum(c->promised, value);
    return true;
}

/* Valgrind's last line: all that was promised is there. */
bool qp_callgrind_totals(qp_callgrind *c, qp_words w)
{
    (void)w;
    c->own = c->promised = c->n_rounded = 0;
    return true;
}

/* A file that was cut off at the end of a line looks like a whole one, but for its sums. */
bool qp_callgrind_is_whole(qp_callgrind *c)
{
    if (!c->has_events)
        return qp_callgrind_refuse(c, "it ends without a line \"events:\"");
    if (c->callee)
        return qp_callgrind_refuse(c, "it is cut off: it ends before what the calls cost");
    if (c->is_calls_only || c->promised <= qp_sum(c->own, c->n_rounded))
        return true;
    qp_text_format(c->error, QP_ERROR_BYTES,
                   "line %zu: it is cut off: the costs up to here are %llu %.60s, and its "
                   "summary says %llu",
                   c->n_line, (unsigned long long)c->own, c->event_name,
                   (unsigned long long)c->promised);
    return false;
}
