/* qlua_state.c: the run, and every lua_State as a virtual thread of it.
 *
 * A state is bound to a handle at its first frame. lua_resume mounts it. A state that the host
 * calls without resuming it is mounted from its first frame to its last. */
#define LUA_CORE
#include "lprefix.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lauxlib.h"
#include "ldo.h"
#include "lgc.h"
#include "qlua.h"

#include "qlua_glue.h"
#include "qprof.h"

int qlua_is_recording;
int qlua_is_reporting;
void (*qlua_loop)(lua_State *, CallInfo *) = luaV_execute;
int qlua_has_lines;
int qlua_is_covering;
int qlua_is_apart;
int qlua_is_tracing;
int qlua_is_keeping;
int qlua_is_special;
int qlua_is_brief;
int qlua_is_telling;
const uint32_t *qlua_changes;

static qprof_vm process; /* a user of the run until the process exits */

static const unsigned tracing = QPROF_WANT_TRACE | QPROF_WANT_PARAMETERS;

/* Open states, whose frames are counted as left when the process exits. */
typedef struct open_state {
    lua_State *main;
    pthread_t thread; /* that opened it */
    struct open_state *next;
    lua_Alloc allocate; /* what Lua's memory comes from, if allocations are recorded */
    void *data;         /* its own */
} open_state;

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static open_state *open_states;

void qlua_states_visit(void (*visit)(lua_State *main_state, int is_joined), int is_joined)
{
    pthread_mutex_lock(&open_lock);
    for (open_state *state = open_states; state; state = state->next) {
        if (pthread_equal(state->thread, pthread_self()))
            visit(state->main, is_joined);
    }
    pthread_mutex_unlock(&open_lock);
}

/* exit() without lua_close(): the frames of this thread's states are left where they are. */
static void finish(void)
{
    if (qlua_is_counting())
        qlua_states_visit(qlua_note_state, 0);
    if (qlua_is_covering)
        qlua_cover_unloaded();
    qlua_keep_finish();
}

/* Memory was allocated: if a Lua function is on top, its saved pc tells the block. While Lua moves the
 * stack, it has no pointers into it: the frame's own data are used. */
static void tell_block(qprof_stack *running, uint64_t bytes, int is_new)
{
    lua_State *L = (lua_State *)(void *)((char *)running - offsetof(lua_State, qstack));
    const CallInfo *ci = L->ci;
    if (ci == NULL || !isLua(ci) || ci->qtoken == 0 || ci->qtoken != qprof_top(running))
        return;
    const qlua_code *code = qlua_is_counting() ? ci->qcode : NULL;
    int at = code && code->leaders ? (int)(ci->u.l.savedpc - code->code) - 1 : -1;
    if (at >= 0)
        qprof_record_alloc_block(running->th, bytes, (uint64_t)is_new,
                                 qlua_code_block(code, at));
}

/* Lua's allocator while allocations are recorded. Without a block old_bytes is a type. */
static void *allocate(void *data, void *block, size_t old_bytes, size_t new_bytes)
{
    const open_state *state = data;
    void *got = state->allocate(state->data, block, old_bytes, new_bytes);
    const qprof_vm *vm = &G(state->main)->qvm;
    qprof_stack *running = vm->running == &vm->main ? &state->main->qstack : vm->running;
    if (got == NULL && new_bytes != 0)
        return NULL;
    if (block == NULL && new_bytes != 0)
        qprof_allocated(running, new_bytes);
    else if (block != NULL && new_bytes == 0)
        qprof_freed(running, old_bytes);
    else if (block != NULL)
        qprof_resized(running, old_bytes, new_bytes);
    if (qlua_has_lines && new_bytes > (block ? old_bytes : 0))
        tell_block(running, new_bytes - (block ? old_bytes : 0), block == NULL);
    return got;
}

static void watch_memory(open_state *state)
{
    global_State *g = G(state->main);
    state->allocate = g->frealloc;
    state->data = g->ud;
    g->frealloc = allocate;
    g->ud = state;
    if (qprof_begin(&state->main->qstack)) /* it has a row before its first call */
        qprof_end(&state->main->qstack);
}

static __thread int is_scratch; /* the state that is being made is not the program's */

lua_State *qlua_scratch_state(void)
{
    is_scratch = 1;
    lua_State *L = luaL_newstate();
    is_scratch = 0;
    return L;
}

static void forget_memory(const open_state *state)
{
    global_State *g = G(state->main);
    if (g->ud == state) { /* else the host has another allocator now */
        g->frealloc = state->allocate;
        g->ud = state->data;
    }
}

static void start(int argc, char **argv, int script)
{
    int opened;
    if (script < argc)
        qprof_set_program(argv[script], argc - script - 1,
                          (const char *const *)argv + script + 1, LUA_RELEASE);
    else
        qprof_set_program(NULL, 0, NULL, LUA_RELEASE);
    opened = qprof_vm_open(&process, NULL);
    if (opened <= 0)
        return; /* the recorder has printed why */
    unsigned wants = qprof_wants();
    qlua_is_recording = 1;
    qlua_has_lines = (wants & QPROF_WANT_LINES) != 0;
    qlua_is_covering = (wants & QPROF_WANT_COVERAGE) != 0;
    if (qlua_is_covering)
        qlua_cover_open();
    qlua_changes = qprof_changes();
    qlua_is_brief = qlua_is_covering && !qlua_has_lines;
    int is_keeping = !(wants & QPROF_WANT_ALONE) && qlua_keep_is_wanted();
    int is_counting =
        (is_keeping || (wants & (QPROF_WANT_BLOCKS | QPROF_WANT_ALONE | tracing))) &&
        qlua_code_open_scratch();
    if (atexit(finish) != 0)
        is_counting = 0;
    if (is_counting && (is_keeping || (wants & (QPROF_WANT_GATE | tracing)))) {
        qlua_choose_loop();
        return;
    }
    if (is_counting && (wants & QPROF_WANT_ALONE)) {
        qlua_loop = qlua_is_brief ? qlua_execute_functions : qlua_execute_coverage;
        return;
    }
    qlua_is_reporting = 1;
    qlua_is_polling = (wants & QPROF_WANT_STACK) && !(wants & QPROF_WANT_SHADOW);
    qlua_is_apart = qlua_is_polling;
    if (is_counting && (wants & QPROF_WANT_SAMPLE_BLOCKS)) {
        qlua_sample_begin();
        qlua_loop = qlua_execute_sampled;
        return;
    }
    qlua_loop = is_counting       ? qlua_execute_counting
                : qlua_is_polling ? qlua_execute_polling
                                  : qlua_execute_calls;
}

void qlua_start(int argc, char **argv, int script)
{
    start(argc, argv, script);
    if (qlua_is_reporting && !qlua_is_polling && !qlua_is_covering)
        qlua_cost_measure();
}

void qlua_choose_loop(void)
{
    unsigned wants = qprof_wants();
    qlua_is_reporting = 1;
    qlua_is_telling = 0;
    qlua_has_values = (wants & QPROF_WANT_PARAMETERS) != 0;
    qlua_is_tracing = (wants & tracing) != 0;
    qlua_is_keeping = qlua_keep_is_wanted();
    qlua_is_special = qlua_is_tracing || qlua_is_keeping;
    qlua_is_apart = 1;
    qlua_loop = qlua_execute_gated;
}

void qlua_report_calls(lua_State *L)
{
    L->qon = 1;
    if (qprof_begin(&L->qstack)) /* its gate says from now on whether to count */
        qprof_end(&L->qstack);
}

/* The token of the frame on top, if it is of one of Lua's functions that only resume or yield; else 0. */
static qprof_token switching_frame(const lua_State *L)
{
    const TValue *f = s2v(qlua_func(L->ci));
    lua_CFunction c = ttislcf(f) ? fvalue(f) : ttisCclosure(f) ? clCvalue(f)->f : NULL;
    return c == luaB_coresume || c == luaB_auxwrap || c == luaB_yield ? L->ci->qtoken : 0;
}

void qlua_resume(lua_State *L, lua_State *from)
{
    qlua_context_resume(L);
    if (qlua_is_on(L))
        L->qback = qprof_switch_by(&G(L)->qvm, &L->qstack, from ? switching_frame(from) : 0);
}

void qlua_suspend(lua_State *L)
{
    qlua_context_suspend(L);
    if (qlua_is_on(L) && L->qback)
        qprof_switch_by(&G(L)->qvm, L->qback, switching_frame(L));
    L->qback = NULL;
}

void qlua_leave_reported(lua_State *L, CallInfo *ci, int n_results)
{
    if (qlua_is_telling)
        qlua_sample_frame(L, ci);
    if (!qlua_is_apart)
        qlua_exit(L, ci);
    else if (qlua_is_polling)
        qlua_poll(L, ci);
    else
        qlua_gated_leave(L, ci, qlua_top(L) - n_results, n_results);
}

size_t qlua_frame_method(lua_State *L, CallInfo *ci)
{
    const TValue *f = s2v(qlua_func(ci));
    if (isLua(ci)) {
        Proto *p = clLvalue(f)->p;
        return p->qid ? p->qid : qlua_code_method(L, ci, p);
    }
    return qlua_cfunction_method(L, ttislcf(f) ? fvalue(f) : clCvalue(f)->f);
}

static __attribute__((noinline)) void call_c_gated(lua_State *L, CallInfo *ci, lua_CFunction f)
{
    if (qlua_is_telling)
        qlua_sample_frame(L, ci->previous);
    if (qlua_is_special)
        qlua_special_entry(L, ci, qlua_cfunction_method(L, f));
    else
        qlua_call_c(L, ci, f);
}

/* In these two the case of polling comes first: it needs the fewest instructions. */
void qlua_call_c_apart(lua_State *L, CallInfo *ci, lua_CFunction f)
{
    if (qlua_is_polling) {
        ci->qtoken = 0;
        qlua_poll(L, ci->previous);
    } else {
        call_c_gated(L, ci, f);
    }
}

static __attribute__((noinline)) void call_gated(lua_State *L, StkId func, int n_results)
{
    CallInfo *ci = luaD_precall(L, func, n_results);
    if (ci == NULL)
        return;
    ci->callstatus |= CIST_FRESH;
    if (qlua_is_telling)
        qlua_sample_frame(L, ci->previous);
    if (qlua_is_on(L) && qlua_is_special)
        qlua_special_entry(L, ci, qlua_frame_method(L, ci));
    else if (qlua_is_on(L))
        qlua_entry_lua(L, ci);
    qlua_execute(L, ci);
}

void qlua_call_apart(lua_State *L, StkId func, int n_results)
{
    if (qlua_is_polling)
        qlua_poll_call(L, func, n_results);
    else
        call_gated(L, func, n_results);
}

/* A frame that began while nothing was recorded has no token: that below it has. */
static qprof_token token_at(const CallInfo *ci)
{
    while (ci->qtoken == QPROF_NO_TOKEN)
        ci = ci->previous;
    return ci->qtoken;
}

void qlua_unwind(lua_State *L, CallInfo *to)
{
    if (qlua_is_counting())
        qlua_note_frames(L, to, 0);
    if (L->qkeep)
        qlua_keep_unwind(L, to);
    if (to == &L->base_ci)
        L->qnoted = 0; /* nothing is left of what was noted */
    if (!L->qon || !L->qstack.th->gate)
        return;
    int is_all = to == &L->base_ci && to->qtoken == 0; /* else the collector is at it */
    if (is_all && !qprof_begin(&L->qstack)) /* another state may be closing this one */
        qprof_stack_mount(&L->qstack, 0);   /* or a coroutine the main state below it */
    if (!qlua_is_polling)
        qprof_unwind(&L->qstack, is_all ? 0 : token_at(to));
    else if (qprof_is_due(L->qstack.th))
        qlua_poll_sample(L, L->ci);
    if (is_all)
        qprof_end(&L->qstack);
}

/* ---- the collector ----------------------------------------------------------------------- */

/* The frame that the collector interrupts passes for the collector's: finalizers are its callees,
 * and an error in one of them resumes there. */
qlua_collection qlua_collect(lua_State *L)
{
    global_State *g = G(L);
    CallInfo *ci = L->ci;
    qlua_collection it = {NULL, NULL, ci->qtoken, 0};
    if (!completestate(g))
        return it;
    if (qlua_is_polling)
        return qlua_poll_collect(L);
    int has_coroutine = g->qvm.running != &g->qvm.main;
    if (L == qlua_main(g) ? !has_coroutine : L->qstack.outside != NULL) {
        it.L = L;
        ci->qtoken = qprof_enter(&L->qstack, ci->qtoken, QPROF_METHOD_GC);
        return it;
    }
    /* C code allocates on a stack that does not run */
    qprof_stack *running = has_coroutine ? g->qvm.running : &qlua_main(g)->qstack;
    if (running->outside) {
        it.L = L;
        it.apart = running;
        qprof_push(running, QPROF_METHOD_GC);
    }
    return it;
}

void qlua_collected(const qlua_collection *it)
{
    lua_State *L = it->L;
    if (qlua_is_polling) {
        qlua_poll_collected(it);
    } else if (it->apart) {
        qprof_pop(it->apart, QPROF_METHOD_GC);
    } else {
        qprof_leave(&L->qstack, L->ci->qtoken);
        L->ci->qtoken = it->token;
    }
    if (G(L)->qgated)
        qlua_gated_collected(L);
}

/* ---- the life of a state ----------------------------------------------------------------- */

void qlua_free_thread(lua_State *L)
{
    if (!qlua_is_recording)
        return;
    if (qlua_is_counting())
        qlua_note_frames(L, &L->base_ci, 0);
    qlua_context_forget(L);
    qlua_keep_free(L);
    qprof_stack_end(&G(L)->qvm, &L->qstack);
}

void qlua_open(lua_State *L)
{
    global_State *g = G(L);
    g->qrunning = NULL;
    qprof_vm_open(&g->qvm, NULL);
    g->qgated = qlua_loop == qlua_execute_gated;
    g->qchange = g->qgated ? __atomic_load_n(&qlua_changes[0], __ATOMIC_ACQUIRE) : 0;
    g->qclear = g->qgated ? __atomic_load_n(&qlua_changes[1], __ATOMIC_RELAXED) : 0;
    open_state *state = qlua_is_recording ? malloc(sizeof *state) : NULL;
    if (state == NULL)
        return;
    pthread_mutex_lock(&open_lock);
    *state = (open_state){.main = L, .thread = pthread_self(), .next = open_states};
    open_states = state;
    pthread_mutex_unlock(&open_lock);
    if (!is_scratch && (qprof_wants() & QPROF_WANT_MEMORY))
        watch_memory(state);
}

void qlua_close(lua_State *L)
{
    if (!qlua_is_recording)
        return;
    qlua_free_thread(L);
    qprof_vm_close(&G(L)->qvm);
    qlua_cfunctions_forget();
    qlua_code_bury(L);
    pthread_mutex_lock(&open_lock);
    for (open_state **link = &open_states; *link; link = &(*link)->next) {
        open_state *state = *link;
        if (state->main == L) {
            *link = state->next;
            forget_memory(state);
            free(state);
            break;
        }
    }
    pthread_mutex_unlock(&open_lock);
}
