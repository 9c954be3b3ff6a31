/* trace_events.c: one complete event ("X") for each call of a trace. Read qp_chrome_leave first.
 *
 * Viewers sort events by their beginnings, and add up beginning and duration in floating point.
 * So calls that begin or end in the same ns as their neighbors are written as a beginning and an
 * end ("B", "E"), whose order in the file counts. */
#include "export/timeline/trace_events.h"

#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/text.h"

enum {
    PLACE_MAX = 4096, /* characters of a file and a line */
    NUMBER_MAX = 24,  /* of a time */
    HEAD_MAX = 64,    /* of what all events of a thread share */
    NS_A_US = 1000
};

/* A function as the end of an event. */
typedef struct {
    qp_step_function is; /* what it was made of: a name may become known late */
    size_t at, n_bytes;  /* in texts; 0 bytes: too long to be kept */
} tail;

typedef struct {
    uint64_t begin, end;
    uint32_t function;
    bool is_open;  /* entered, and not left */
    bool is_begun; /* its "B" is written */
} call;

struct qp_chrome_track {
    qp_chrome_track *next;
    char head[HEAD_MAX]; /* ,"pid":1,"tid":1,"ts": */
    size_t n_head;
    qp_buf calls; /* by depth */
    call left;    /* the last one that was left, if it is not written yet */
    bool has_left;
    uint64_t left_at; /* of the last one; UINT64_MAX: none */
};

struct qp_chrome_calls {
    const qp_steps *from;
    qp_json *json;
    qp_chrome_track *tracks;
    qp_buf tails; /* by number of the function */
    qp_buf texts;
    bool failed;
    qp_out made; /* a tail that is being made */
};

/* ---- the parts of an event --------------------------------------------------------------- */

static char *put(char *to, const char *bytes, size_t n_bytes)
{
    memcpy(to, bytes, n_bytes);
    return to + n_bytes;
}

static char *put_digits(char *to, uint64_t number)
{
    char digits[NUMBER_MAX], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    return put(to, at, (size_t)(digits + sizeof digits - at));
}

/* A time in us, exact, with no digit more than that takes. */
static char *put_us(char *to, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % NS_A_US);
    to = put_digits(to, ns / NS_A_US);
    if (!rest)
        return to;
    *to++ = '.';
    *to++ = (char)('0' + rest / 100);
    if (rest % 100)
        *to++ = (char)('0' + rest / 10 % 10);
    if (rest % 10)
        *to++ = (char)('0' + rest % 10);
    return to;
}

static void write_tail(qp_out *out, const qp_step_function *x)
{
    char place[PLACE_MAX];
    qp_out_text(out, ",\"name\":");
    qp_text_json(out, x->name);
    qp_out_text(out, ",\"cat\":");
    qp_text_json(out, x->module);
    if (*x->file) {
        qp_text_format(place, sizeof place, x->line ? "%s:%u" : "%s", x->file, x->line);
        qp_out_text(out, ",\"args\":{\"at\":");
        qp_text_json(out, place);
        qp_out_char(out, '}');
    }
    qp_out_char(out, '}');
}

/* Make the tail of a function, if it is not too long. */
static void make_tail(qp_chrome_calls *c, tail *t, const qp_step_function *x)
{
    qp_out_init(&c->made, -1);
    write_tail(&c->made, x);
    *t = (tail){.is = *x};
    if (c->made.error)
        return;
    size_t at = c->texts.n;
    char *text = qp_buf_add_many(&c->texts, c->made.n_bytes);
    if (!text)
        return;
    memcpy(text, c->made.bytes, c->made.n_bytes);
    t->at = at;
    t->n_bytes = c->made.n_bytes;
}

static void put_tail(qp_chrome_calls *c, uint32_t function)
{
    const qp_step_function x = c->from->function(c->from, function);
    tail *t = qp_buf_at(&c->tails, function);
    bool is_made = t && t->is.name == x.name && t->is.file == x.file && t->is.line == x.line &&
                   t->is.module == x.module;
    if (t && !is_made)
        make_tail(c, t, &x);
    if (t && t->n_bytes)
        qp_out_bytes(c->json->out, (const char *)c->texts.items + t->at, t->n_bytes);
    else
        write_tail(c->json->out, &x);
}

/* ---- events ------------------------------------------------------------------------------ */

static void write_event(qp_chrome_calls *c, const qp_chrome_track *track, char type,
                        const call *k)
{
    char text[2 * HEAD_MAX + 3 * NUMBER_MAX], *at = text;
    qp_json_row(c->json);
    at = put(at,
             type == 'X'   ? "{\"ph\":\"X\""
             : type == 'B' ? "{\"ph\":\"B\""
                           : "{\"ph\":\"E\"",
             9);
    at = put(at, track->head, track->n_head);
    at = put_us(at, type == 'E' ? k->end : k->begin);
    if (type == 'X') {
        at = put(at, ",\"dur\":", 7);
        at = put_us(at, k->end - k->begin);
    }
    qp_out_bytes(c->json->out, text, (size_t)(at - text));
    put_tail(c, k->function);
}

/* A call at whose beginning another one begins: it must precede that one. */
static void write_begin(qp_chrome_calls *c, qp_chrome_track *track, call *k)
{
    if (k->is_open && !k->is_begun)
        write_event(c, track, 'B', k);
    k->is_begun = true;
}

/* Write the call that was left before something happens. */
static void settle(qp_chrome_calls *c, qp_chrome_track *track, uint64_t at)
{
    if (!track->has_left)
        return;
    track->has_left = false;
    if (track->left.end != at) {
        write_event(c, track, 'X', &track->left);
        return;
    }
    write_event(c, track, 'B', &track->left);
    write_event(c, track, 'E', &track->left);
}

void qp_chrome_enter(qp_chrome_calls *c, qp_chrome_track *track, const qp_step *s)
{
    settle(c, track, s->at);
    call *k = qp_buf_at(&track->calls, s->depth);
    if (!k)
        return;
    if (s->depth && k[-1].begin == s->at)
        write_begin(c, track, &k[-1]);
    *k = (call){.begin = s->at, .function = s->function, .is_open = true};
}

void qp_chrome_leave(qp_chrome_calls *c, qp_chrome_track *track, const qp_step *s)
{
    settle(c, track, s->at);
    call *k = qp_buf_at(&track->calls, s->depth);
    if (!k)
        return;
    if (!k->is_open)
        *k = (call){.begin = s->begin, .function = s->function, .is_open = true};
    k->end = s->at;
    if (track->left_at == s->at)
        write_begin(c, track, k);
    if (k->is_begun)
        write_event(c, track, 'E', k);
    else
        track->left = *k;
    track->has_left = !k->is_begun;
    track->left_at = s->at;
    k->is_open = k->is_begun = false;
}

/* ---- beginning and end ------------------------------------------------------------------- */

qp_chrome_calls *qp_chrome_calls_new(const qp_steps *from, qp_json *json)
{
    qp_chrome_calls *c = qp_alloc_zeroed(1, sizeof *c);
    if (!c)
        return NULL;
    c->from = from;
    c->json = json;
    c->tails = QP_BUF(tail);
    c->texts = QP_BUF(char);
    return c;
}

qp_chrome_track *qp_chrome_track_new(qp_chrome_calls *c, uint32_t thread)
{
    qp_chrome_track *track = qp_alloc_zeroed(1, sizeof *track);
    c->failed |= !track;
    if (!track)
        return NULL;
    uint32_t ordinal = c->from->thread(c->from, thread).ordinal;
    qp_text_format(track->head, sizeof track->head,
                   ",\"pid\":%llu,\"tid\":%u,\"ts\":", (unsigned long long)c->from->pid,
                   ordinal);
    track->n_head = strlen(track->head);
    track->calls = QP_BUF(call);
    track->left_at = UINT64_MAX;
    track->next = c->tracks;
    c->tracks = track;
    return track;
}

bool qp_chrome_calls_end(qp_chrome_calls *c)
{
    for (qp_chrome_track *track = c->tracks; track; track = track->next) {
        settle(c, track, UINT64_MAX);
        c->failed |= track->calls.failed;
    }
    return !c->failed && !c->tails.failed && !c->texts.failed;
}

void qp_chrome_calls_free(qp_chrome_calls *c)
{
    qp_chrome_track *next;
    for (qp_chrome_track *track = c ? c->tracks : NULL; track; track = next) {
        next = track->next;
        qp_free(track->calls.items);
        qp_free(track);
    }
    if (c) {
        qp_free(c->tails.items);
        qp_free(c->texts.items);
    }
    qp_free(c);
}
