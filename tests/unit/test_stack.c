/* test_stack.c tests record/tree/stack.c: chunks of frames and the chain of those that have flags, against a plain
 * list of frames. What an ordinary exit may pop follows from th->low, so it is compared too. */
#include "record/tree/tree.h"
#include "unit/play.h"

enum { DEPTH_MAX = 6000, STEPS = 300000 };

typedef struct {
    uint64_t id;
    uint32_t flags;
} frame;

typedef struct {
    qprof_thread *th;
    qprof_frame *top;
    frame frames[DEPTH_MAX + 1]; /* 0: the root's */
    unsigned depth;
    uint32_t seed;
} host;

static uint32_t roll(host *h, uint32_t n)
{
    h->seed = h->seed * 1664525u + 1013904223u;
    return (h->seed >> 16) % n;
}

static const qp_extent *chunk_in_use(const host *h)
{
    return QPROF_CELL(h->th, qp_extent, qp_record_of(h->th)->chunk);
}

/* Is the top the last frame above which no ordinary entry pushes? */
static bool is_at_the_end(const host *h)
{
    return QPROF_OFFSET(h->th, h->top) == h->th->floor + h->th->span;
}

static void assert_chunk(const host *h)
{
    const qp_extent *e = chunk_in_use(h);
    uint64_t first = QPROF_OFFSET(h->th, e) + QP_CELL;
    assert_int_equal(h->th->floor, first);
    assert_int_equal(h->th->span, ((uint64_t)e->n_cells - 2) * QP_CELL);
    assert_true(QPROF_OFFSET(h->th, h->top) - first <= h->th->span);
}

/* Every frame, from the top to the root and back. */
static void assert_frames(host *h)
{
    const qprof_thread *th = h->th;
    qp_stack_cursor c = qp_stack_from(th, h->top);
    uint64_t flagged = qp_own_of(th)->flagged, low = th->floor;
    bool is_first = true;
    assert_int_equal(qp_stack_depth(th, h->top), h->depth);
    for (unsigned d = h->depth; d; d--) {
        assert_int_equal(c.f->stack_id, h->frames[d].id);
        assert_int_equal(c.f->flags, h->frames[d].flags);
        if (h->frames[d].flags) {
            assert_int_equal(flagged, QPROF_OFFSET(th, c.f));
            if (is_first && c.chunk == qp_record_of(th)->chunk)
                low = flagged;
            is_first = false;
            flagged = (uint64_t)c.f->low << 6;
        }
        assert_true(qp_stack_down(th, &c));
    }
    assert_int_equal(flagged, 0);
    assert_int_equal(th->low, low);
    for (unsigned d = 1; d <= h->depth; d++) {
        qp_stack_up(th, &c);
        assert_int_equal(c.f->stack_id, h->frames[d].id);
    }
    assert_ptr_equal(c.f, h->top);
}

static void push(host *h)
{
    qprof_frame *f = qp_stack_above(h->th, h->top);
    assert_non_null(f);
    assert_int_equal(f->flags, 0); /* an ordinary entry does not clear them */
    f->stack_id = 1000 + roll(h, 1 << 15);
    f->node = qp_stack_floor(h->th)->node;
    h->frames[++h->depth] = (frame){f->stack_id, 0};
    h->top = f;
}

static void pop(host *h)
{
    h->top = qp_stack_below(h->th, h->top);
    h->depth--;
}

static void flag(host *h)
{
    uint32_t flags = roll(h, 2) ? QPROF_FRAME_SAME : QPROF_FRAME_HOOKED;
    qp_stack_flag(h->th, h->top, flags);
    h->frames[h->depth].flags |= flags;
}

static void flag_all(host *h)
{
    qp_stack_flag_all(h->th, h->top, QPROF_FRAME_ID);
    for (unsigned d = 1; d <= h->depth; d++)
        h->frames[d].flags |= QPROF_FRAME_ID;
}

/* Some frames get flags, others lose theirs. */
static void change_flags(host *h)
{
    qp_stack_cursor c = qp_stack_from(h->th, h->top);
    unsigned most = 1 + roll(h, 100);
    for (unsigned d = h->depth; d; d--, qp_stack_down(h->th, &c)) {
        h->frames[d].flags = roll(h, most) ? 0 : QPROF_FRAME_SAME;
        c.f->flags = h->frames[d].flags;
    }
    qp_stack_relink(h->th, h->top);
}

static void step(host *h, unsigned target)
{
    uint32_t kind = roll(h, 2000);
    bool climbs = h->depth < target ? kind < 1500 : kind < 500;
    if (climbs && h->depth < DEPTH_MAX)
        push(h);
    else if (h->depth)
        pop(h);
    assert_chunk(h);
    bool is_edge = is_at_the_end(h) || h->top == qp_stack_floor(h->th);
    if (h->depth && (roll(h, 30) == 0 || (is_edge && roll(h, 2))))
        flag(h);
    if (kind == 7)
        flag_all(h);
    if (kind == 8 || kind == 9)
        change_flags(h);
    if (is_edge || kind % 200 < 3)
        assert_frames(h);
}

static host *begin(void **state)
{
    static host h;
    play_start(state, "-time=none");
    h = (host){.th = qprof_thread_handle(QPROF_INLINE_VERSION), .seed = 1};
    h.top = qp_stack_first(h.th);
    assert_non_null(h.top);
    return &h;
}

static void end(host *h)
{
    while (h->depth)
        pop(h);
    assert_frames(h);
    qprof_shutdown();
}

static void frames_and_their_flags_equal_a_plain_list(void **state)
{
    host *h = begin(state);
    for (unsigned i = 0, target = 0; i < STEPS; i++) {
        if (i % 10000 == 0)
            target = roll(h, 4) ? roll(h, 5000) : roll(h, 80);
        step(h, target);
    }
    end(h);
}

/* An ordinary event has read the top when a signal handler of the host records, which moves the stack or goes
 * to another chunk; then the event marks the top that it has read. */
static void assert_found(host *h, uint64_t read, unsigned depth)
{
    QPROF_STORE(h->th->pulse->top, read | QPROF_TOP_BUSY);
    h->top = qp_busy_top(h->th);
    assert_non_null(h->top);
    assert_int_equal(qp_stack_depth(h->th, h->top), depth);
    assert_int_equal(h->top->stack_id, h->frames[depth].id);
    h->depth = depth;
    assert_chunk(h);
}

static void a_top_that_was_read_before_the_stack_moved_is_found(void **state)
{
    host *h = begin(state);
    while (h->depth < 10)
        push(h);
    uint64_t read = QPROF_OFFSET(h->th, h->top), floor = h->th->floor;
    while (h->depth < 100)
        push(h);
    assert_int_not_equal(h->th->floor, floor); /* it has moved */
    while (h->depth > 10)
        pop(h);
    assert_found(h, read, 10);
    assert_found(h, QPROF_OFFSET(h->th, h->top), 10);
    end(h);
}

static void a_top_of_another_chunk_is_found(void **state)
{
    host *h = begin(state);
    while (h->depth < 450)
        push(h);
    uint64_t read = QPROF_OFFSET(h->th, h->top), floor = h->th->floor;
    while (h->depth < 2500)
        push(h);
    assert_int_not_equal(h->th->floor, floor);
    assert_found(h, read, 450);
    assert_int_equal(h->th->floor, floor);
    end(h);
}

/* The handler did not leave the stack as it was: what was read is no frame. */
static void a_top_of_no_chunk_is_the_first_frame_of_the_one_in_use(void **state)
{
    host *h = begin(state);
    while (h->depth < 700)
        push(h);
    uint64_t elsewhere = (uint64_t)qp_record_cell(h->th) << 6;
    QPROF_STORE(h->th->pulse->top, elsewhere | QPROF_TOP_BUSY);
    assert_ptr_equal(qp_busy_top(h->th), qp_stack_floor(h->th));
    QPROF_STORE(h->th->pulse->top, QPROF_TOP_BUSY);
    assert_null(qp_busy_top(h->th)); /* no stack yet */
    end(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(frames_and_their_flags_equal_a_plain_list),
        PLAY_TEST(a_top_that_was_read_before_the_stack_moved_is_found),
        PLAY_TEST(a_top_of_another_chunk_is_found),
        PLAY_TEST(a_top_of_no_chunk_is_the_first_frame_of_the_one_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
