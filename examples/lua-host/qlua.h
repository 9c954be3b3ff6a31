/* qlua.h: what the patched Lua calls where frames begin and end.
 *
 * Every lua_State has a stack of calls, `qstack`. `qon`: its calls are reported. `qtoken` is what the
 * recorder knows a frame by; 0: it is the base level, or began before calls were reported. Nothing here raises an error, changes the Lua stack or
 * uses Lua's allocator, because a frame may be incomplete when it is reported. */
#ifndef QLUA_H
#define QLUA_H

#include "ldebug.h"
#include "lobject.h"
#include "lstate.h"
#include "lvm.h"

#include "qlua_lua.h"
#include "qprof/embed.h"

#if !defined(QLUA_LOOP)
#define QLUA_LOOP 0 /* see qlua_loop.h */
#endif
#define QLUA_REPORTS (QLUA_LOOP && QLUA_LOOP != 4 && QLUA_LOOP != 6) /* entries and exits */
#define QLUA_JUMPS   (QLUA_LOOP == 3 || QLUA_LOOP == 4 || QLUA_LOOP == 7) /* and no gate */

/* Data of one prototype, in addition to the method id and jump counters in Proto. The data of a
 * collected prototype are kept while a collected coroutine, not yet swept, may have a frame of
 * it. */
typedef struct qlua_code {
    const Instruction *code; /* of the prototype; only to compute distances */
    uint64_t
        *left; /* [2 * n_blocks] counters of frames left, then joined, in mid-block; or NULL */
    uint64_t *entries; /* entries alone, while the gated loop counts; NULL: jumps are counted */
    int *leaders; /* [n_blocks] first instruction of each block; NULL: nothing is counted */
    int *befores; /* [n_blocks] the block that ran before a first instruction; in `leaders` */
    int n_blocks, n_window;
    char *name;                       /* given by the enclosing function; NULL: none */
    int place;                        /* functions before it that begin on its line */
    int n_twins;                      /* those of them that have its name, or none as it */
    lu_byte is_known;                 /* the chunk that it is a part of was looked at */
    lu_byte is_named;                 /* by the program; else `name` describes it */
    const char *origin;               /* of text that is in no file; NULL: it has a name */
    const struct qlua_module *module; /* of the enclosing main chunk; NULL: unknown */
    struct qlua_code *next;           /* in the list of the dead */
    const global_State *owner;        /* of a dead one */
} qlua_code;

LUAI_FUNC int qlua_is_recording;
LUAI_FUNC int qlua_is_polling; /* samples are taken from Lua's own stack */
LUAI_FUNC int qlua_is_apart;   /* calls are polled, traced or gated: not reported as usual */
LUAI_FUNC int qlua_is_tracing; /* both ends of calls are reported */
LUAI_FUNC int qlua_is_keeping; /* -tail-calls=keep */
LUAI_FUNC int qlua_is_special; /* either of them: entries and exits are out of line */
LUAI_FUNC int qlua_is_brief;   /* coverage of functions: no jumps are counted */
LUAI_FUNC int qlua_is_telling; /* the blocks of samples */
LUAI_FUNC const uint32_t *qlua_changes;               /* see qprof_changes() */
LUAI_FUNC int qlua_is_reporting;                      /* first `qon` of a state */
LUAI_FUNC void (*qlua_loop)(lua_State *, CallInfo *); /* luaV_execute, or one that records */

/* ---- out of line ------------------------------------------------------------------------- */

/** Initialize the recorder if the environment asks for it. Before the first state. */
LUAI_FUNC void qlua_start(int argc, char **argv, int script);
/** A coroutine begins or continues. @param from  as in lua_resume() */
LUAI_FUNC void qlua_resume(lua_State *L, lua_State *from);
/** A coroutine yielded, returned or failed. */
LUAI_FUNC void qlua_suspend(lua_State *L);
/** The frames above `to` end; L->ci is still the top one. */
LUAI_FUNC void qlua_unwind(lua_State *L, CallInfo *to);
LUAI_FUNC void qlua_free_thread(lua_State *L);
LUAI_FUNC void qlua_open(lua_State *L);
LUAI_FUNC void qlua_close(lua_State *L);

/** Make a method of a prototype that is entered for the first time; the closure is at ci->func.
 * Its counters are in place afterwards. @return its id; 0: not covered, its calls are not
 * recorded */
LUAI_FUNC size_t qlua_code_method(lua_State *L, CallInfo *ci, Proto *p);
/** A prototype is collected. */
LUAI_FUNC void qlua_code_drop(lua_State *L, Proto *p);
/** A C function is entered. Out of line: luaD_precall stays what it is in Lua. */
LUAI_FUNC void qlua_call_c(lua_State *L, CallInfo *ci, lua_CFunction f);

/** A call from C, and a call of a C function, while qlua_is_apart. */
LUAI_FUNC void qlua_call_apart(lua_State *L, StkId func, int n_results);
LUAI_FUNC void qlua_call_c_apart(lua_State *L, CallInfo *ci, lua_CFunction f);
/** Samples wait, or the state is not bound yet: credit the frame `at`. */
LUAI_FUNC void qlua_poll_sample(lua_State *L, CallInfo *at);

/** The loop that tells blocks jumps by this table, one place for each opcode. */
LUAI_FUNC const void *qlua_dispatch[];
/** @param labels  [NUM_OPCODES] of the instructions @param asked  where to go when samples wait */
LUAI_FUNC void qlua_dispatch_open(const void *const *labels, const void *asked);
/** Have the loop asked when samples wait. */
LUAI_FUNC void qlua_sample_begin(void);
/** The loop was asked: credit samples to the block that ran before an instruction. */
LUAI_FUNC void qlua_sample_next(lua_State *L, CallInfo *ci, const Instruction *next);
/** Credit samples to the block of a frame's instruction before `pc`. */
LUAI_FUNC void qlua_sample_at(lua_State *L, CallInfo *ci, const Instruction *pc);

/** A function that no loop started returns, and its exit must be reported. */
LUAI_FUNC void qlua_leave_reported(lua_State *L, CallInfo *ci, int n_results);

/* What the collector replaced where it began. */
typedef struct {
    lua_State *L;       /* NULL: it is not reported */
    qprof_stack *apart; /* not L's own runs: the one that does; or NULL */
    qprof_token token;  /* of the frame that the collector interrupts */
    lu_byte is_begun;   /* its stack was mounted for it */
} qlua_collection;

/** The collector begins: a call of the frame on top. What it calls sees it there. */
LUAI_FUNC qlua_collection qlua_collect(lua_State *L);
LUAI_FUNC void qlua_collected(const qlua_collection *it);
/** The same while samples are taken from Lua's own stack. */
LUAI_FUNC qlua_collection qlua_poll_collect(lua_State *L);
LUAI_FUNC void qlua_poll_collected(const qlua_collection *it);
/** The collector has ended: see whether the frame on top is still to be counted as before. */
LUAI_FUNC void qlua_gated_collected(lua_State *L);

/** A frame begins, or ends, while qlua_is_special. */
LUAI_FUNC void qlua_special_entry(lua_State *L, CallInfo *ci, size_t method);
LUAI_FUNC void qlua_special_exit(lua_State *L, CallInfo *ci, StkId results, int n_results);

/** Trace a call from both of its ends; its arguments follow its function on the stack. */
LUAI_FUNC void qlua_trace_entry(lua_State *L, CallInfo *ci, size_t method);
LUAI_FUNC void qlua_trace_tail(lua_State *L, CallInfo *ci);
LUAI_FUNC void qlua_trace_exit(lua_State *L, CallInfo *ci, StkId results, int n_results);

/** Obey a change of qlua_changes: from now on the gated loop runs, with the counters that are
 * wanted now. @param aside a frame outside of any block: just made, or ended; or NULL */
LUAI_FUNC void qlua_change(lua_State *L, CallInfo *aside);
/** A function is entered that has no counters yet, or after a change of qlua_changes.
 * @return 1: after a change; the gated loop takes over */
LUAI_FUNC int qlua_leaves_loop(lua_State *L, CallInfo *ci);
/** Counting of a frame ends, or begins, in the middle of a block. */
LUAI_FUNC void qlua_turn(CallInfo *ci);
/** A tail call replaced the frame.
 * @param from  the function that made it @param pc  after the call */
LUAI_FUNC void qlua_gated_tail(lua_State *L, CallInfo *ci, const Proto *from,
                               const Instruction *pc);

/** luaV_execute, seven times: reports calls; asks whether samples wait; reports calls and counts
 * entries and taken jumps; only counts; reports and counts where a gate is open; only counts
 * entries; reports, counts and tells the blocks of samples. */
LUAI_FUNC void qlua_execute_calls(lua_State *L, CallInfo *ci);
LUAI_FUNC void qlua_execute_polling(lua_State *L, CallInfo *ci);
LUAI_FUNC void qlua_execute_counting(lua_State *L, CallInfo *ci);
LUAI_FUNC void qlua_execute_coverage(lua_State *L, CallInfo *ci);
LUAI_FUNC void qlua_execute_gated(lua_State *L, CallInfo *ci);
LUAI_FUNC void qlua_execute_functions(lua_State *L, CallInfo *ci);
LUAI_FUNC void qlua_execute_sampled(lua_State *L, CallInfo *ci);

#define qlua_execute(L, ci) (qlua_loop(L, ci))
#if defined(ldo_c) /* what calls, resumes and continues Lua code */
#define luaV_execute(L, ci) qlua_execute(L, ci)
#endif

/* ---- in line, mostly only while qlua_is_on(L) --------------------------------------------------- */

#define qlua_is_on(L) l_unlikely((L)->qon)

/** The collector works from here to the end of the block. */
#define qlua_collects(L)                                                                       \
    qlua_collection collection __attribute__((cleanup(qlua_end_collection))) =                 \
        qlua_is_on(L) ? qlua_collect(L) : (qlua_collection)                                    \
    {                                                                                          \
        NULL, NULL, 0, 0                                                                       \
    }

static inline void qlua_end_collection(const qlua_collection *it)
{
    if (l_unlikely(it->L != NULL))
        qlua_collected(it);
}

static inline void qlua_begin_thread(lua_State *L)
{
    qprof_stack_new(&L->qstack);
    L->qback = NULL;
    L->qon = qlua_is_reporting;
    L->qnoted = 0;
    L->qfrom = NULL;
    L->base_ci.qtoken = 0;
    L->base_ci.qkept = 0;
    L->qkeep = NULL;
}

/** A coroutine is created by what runs in L. */
static inline void qlua_create_thread(lua_State *L, lua_State *created)
{
    qprof_stack_create(&created->qstack, &L->qstack);
    created->qon = L->qon;
}

static inline void qlua_code_begin(Proto *p)
{
    p->qid = 0;
    p->qjumps = 0;
    p->qcode = NULL;
}

/** Credit waiting samples to the frame `at`, from Lua's own stack. Here `qtoken` is the path of
 * a frame, 0 until it is looked up. */
static inline void qlua_poll(lua_State *L, CallInfo *at)
{
    if (l_unlikely(qprof_is_due(L->qstack.th)))
        qlua_poll_sample(L, at);
}

/** Whether calls are not reported and no sample waits. */
static inline int qlua_is_quiet(lua_State *L)
{
    return qlua_is_polling && l_likely(!qprof_is_due(L->qstack.th));
}

/** A function that no loop started returns; its n_results are still on top of the stack. */
static inline void qlua_leave(lua_State *L, CallInfo *ci, int n_results)
{
    if (!qlua_is_quiet(L))
        qlua_leave_reported(L, ci, n_results);
}

/** Before an entry or exit, with qlua_is_telling: samples that wait belong to the instruction before
 * the saved pc, if it is a frame of Lua code. */
static inline void qlua_sample_frame(lua_State *L, CallInfo *ci)
{
    if (l_unlikely(qprof_has_samples(L->qstack.th)) && isLua(ci))
        qlua_sample_at(L, ci, ci->u.l.savedpc);
}

#if QLUA_LOOP == 2

static inline void qlua_entry_lua(lua_State *L, CallInfo *ci)
{
    ci->qtoken = 0;
    qlua_poll(L, ci->previous);
}

static inline void qlua_exit(lua_State *L, CallInfo *ci)
{
    qlua_poll(L, ci);
}

#define qlua_entry_tail(L, ci) ((void)((ci)->qtoken = 0)) /* it was asked before the call */

#else

/** A tail call replaced the frame. */
LUAI_FUNC void qlua_entry_tail(lua_State *L, CallInfo *ci);

static inline void qlua_entry(lua_State *L, CallInfo *ci, size_t method)
{
    ci->qtoken = qprof_enter(&L->qstack, ci->previous->qtoken, method);
}

static inline void qlua_entry_lua(lua_State *L, CallInfo *ci)
{
    Proto *p = ci_func(ci)->p;
    size_t method = l_likely(p->qid) ? p->qid : qlua_code_method(L, ci, p);
#if QLUA_LOOP == 5
    if (l_unlikely(qlua_is_special)) {
        qlua_special_entry(L, ci, method);
        return;
    }
#elif QLUA_LOOP == 7
    qlua_sample_frame(L, ci->previous);
#endif
    qlua_entry(L, ci, method);
}

static inline void qlua_entry_c(lua_State *L, CallInfo *ci, lua_CFunction f)
{
    if (!qlua_is_apart)
        qlua_call_c(L, ci, f);
    else
        qlua_call_c_apart(L, ci, f);
}

static inline void qlua_exit(lua_State *L, CallInfo *ci)
{
    qprof_leave(&L->qstack, ci->qtoken);
}

#endif

/* ---- in line: only in the loops that count ----------------------------------------------- */

/** Whether qlua_changes has changed since the state last obeyed it; while not gated, whether
 * ever. */
static inline int qlua_is_changed(const lua_State *L)
{
    return __atomic_load_n(qlua_changes, __ATOMIC_RELAXED) != G(L)->qchange;
}

/** Whether this execution begins a function; else it continues one. */
static inline int qlua_is_entry(lua_State *L, CallInfo *ci)
{
    int is_entry =
        ci->u.l.savedpc == ci_func(ci)->p->code && !(ci->callstatus & CIST_HOOKYIELD);
#if QLUA_LOOP == 5
    if (l_unlikely(!is_entry && qlua_is_changed(L)))
        qlua_change(L, NULL);
#endif
    (void)L;
    return is_entry;
}

/** The counter of instruction i: 64 bits for its 32. */
static inline void qlua_count(size_t jumps, const Instruction *i)
{
    ++*(uint64_t *)(void *)(jumps + 2 * (size_t)i);
}

/** A call has ended: see whether its caller is still to be counted as before. */
static inline void qlua_look(lua_State *L, CallInfo *ended)
{
    CallInfo *caller = ended->previous;
    if (l_unlikely(qlua_is_changed(L)))
        qlua_change(L, ended);
    if (isLua(caller) && l_unlikely(caller->qshut == qprof_is_counting(L->qstack.th)))
        qlua_turn(caller);
}

#if QLUA_LOOP == 5

#define qlua_jumped(at) ((void)(ci->qshut || (qlua_count(cl->p->qjumps, at), 0)))

/** A function is entered: its counter is that of an instruction before the first. @return 1 */
static inline int qlua_count_entry(lua_State *L, CallInfo *ci)
{
    Proto *p = ci_func(ci)->p;
    if (l_unlikely(qlua_is_changed(L)))
        qlua_change(L, ci);
    if (l_unlikely(p->qjumps == 0))
        qlua_code_method(L, ci, p);
    ci->qcode = p->qcode;
    ci->qshut = (lu_byte)!qprof_is_counting(L->qstack.th);
    if (!ci->qshut) {
        qlua_count(p->qjumps, ci->u.l.savedpc - 1);
        if (l_unlikely(qlua_is_brief) && p->qcode && p->qcode->entries)
            ++*p->qcode->entries;
    }
    return 1;
}

/** The exit of a frame that began before calls were reported is not reported. */
static inline void qlua_exit_with(lua_State *L, CallInfo *ci, const Instruction *pc,
                                  StkId results, int n_results)
{
    if (l_unlikely(qlua_is_special)) {
        ci->u.l.savedpc = pc;
        qlua_special_exit(L, ci, results, n_results);
    } else if (l_likely(ci->qtoken)) {
        qlua_exit(L, ci);
    }
    qlua_look(L, ci);
}

#define qlua_entry_tail(L, ci) qlua_gated_tail(L, ci, cl->p, pc)

#else

#if QLUA_LOOP == 7
static inline void qlua_exit_told(lua_State *L, CallInfo *ci, const Instruction *pc)
{
    if (l_unlikely(qprof_has_samples(L->qstack.th)))
        qlua_sample_at(L, ci, pc);
    qlua_exit(L, ci);
}
#define qlua_exit_with(L, ci, pc, first, n) qlua_exit_told(L, ci, pc)
#else
#define qlua_exit_with(L, ci, pc, first, n) qlua_exit(L, ci)
#endif

#if QLUA_LOOP == 6
#define qlua_jumped(at) ((void)0)
#elif QLUA_LOOP >= 3
#define qlua_jumped(at) qlua_count(jumps, at)
#endif

#if QLUA_LOOP >= 3

/** @return 0: not counted, another loop executes the function */
static inline int qlua_count_entry(lua_State *L, CallInfo *ci)
{
    Proto *p = ci_func(ci)->p;
    if (l_unlikely(__atomic_load_n(qlua_changes, __ATOMIC_RELAXED) != 0) ||
        l_unlikely(p->qjumps == 0)) {
        if (qlua_leaves_loop(L, ci))
            return 0;
    }
    ci->qcode = p->qcode;
    qlua_count(p->qjumps, ci->u.l.savedpc - 1);
    return 1;
}

#else
#define qlua_jumped(at) ((void)0)
#endif
#endif

/* ---- statements of luaV_execute, which are empty in most of its copies --------------------- */

#if QLUA_REPORTS
#define qlua_report(call) call
#else
#define qlua_report(call) ((void)0)
#endif

#if QLUA_JUMPS
#define qlua_jumps_at(jumps)     size_t jumps /* `qjumps` of the running function */
#define qlua_set_jumps(jumps, p) ((jumps) = (p)->qjumps)
#else
#define qlua_jumps_at(jumps)
#define qlua_set_jumps(jumps, p) ((void)0)
#endif

#if QLUA_LOOP >= 3
#define qlua_begin_or_continue(L, ci)                                                          \
    if (!qlua_is_entry(L, ci))                                                                 \
    goto continuing
#define qlua_begin_function(L, ci)                                                             \
    if (!qlua_count_entry(L, ci)) {                                                            \
        qlua_execute(L, ci); /* continue in another loop */                                    \
        return;                                                                                \
    }                                                                                          \
    continuing:                                                                                \
    (void)0
#else
#define qlua_begin_or_continue(L, ci) ((void)0)
#define qlua_begin_function(L, ci)    ((void)0)
#endif

/** Before a call that replaces the frame: no samples are asked for at its exit. */
#if QLUA_LOOP == 2
#define qlua_ask_tail(L, ci) qlua_exit(L, ci)
#elif QLUA_LOOP == 7
#define qlua_ask_tail(L, ci) qlua_sample_frame(L, ci)
#else
#define qlua_ask_tail(L, ci) ((void)0)
#endif

/** Where the table of qlua_table.h leads while samples wait; i is the next instruction. */
#if QLUA_LOOP == 7
#define qlua_asked(L, ci, next, i)                                                             \
    if (0) {                                                                                   \
    asked:                                                                                     \
        qlua_sample_next(L, ci, next);                                                         \
        goto *disptab[GET_OPCODE(i)];                                                          \
    }
#else
#define qlua_asked(L, ci, next, i) ((void)0)
#endif

/** Another loop takes over inside a function where the trap is set. */
#if QLUA_JUMPS || QLUA_LOOP == 6
#define qlua_change_loop(L, ci, pc)                                                            \
    if (qlua_loop != luaV_execute && (pc) != ci_func(ci)->p->code) {                           \
        (ci)->u.l.savedpc = (pc);                                                              \
        qlua_execute(L, ci);                                                                   \
        return;                                                                                \
    }
#else
#define qlua_change_loop(L, ci, pc) ((void)0)
#endif

#endif
