/* qlua_state.c: the run, and every lua_State as a virtual thread of it.
 *
 * A state is bound to a handle at its first frame. It is mounted by lua_resume, or, where the
 * host calls into a state that was never resumed, by the first frame and until the last. */
#define LUA_CORE
#include "lprefix.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lgc.h"
#include "qlua.h"

#include "qlua_glue.h"

qprof_thread *qlua_unbound;
void (*qlua_loop)(lua_State *, CallInfo *) = luaV_execute;
int qlua_has_lines;

static qprof_thread unbound; /* its gate is closed */
static size_t n_bound;       /* virtual thread ids given; atomic */

/* Open states, for frames that are still there when the process exits. */
typedef struct open_state {
    lua_State *main;
    pthread_t thread; /* that opened it */
    struct open_state *next;
} open_state;

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static open_state *open_states;

static int is_bound(const lua_State *L)
{
    return L->qth != NULL && L->qth != &unbound;
}

static void note_left_frames(lua_State *L, const CallInfo *to)
{
    for (CallInfo *ci = L->ci; ci != to; ci = ci->previous) {
        if (isLua(ci) && ci->qcode)
            qlua_code_left(ci->qcode, ci->u.l.savedpc);
    }
}

/* exit() without lua_close(): the frames of this thread's states are left where they stand. */
static void note_exit(void)
{
    pthread_mutex_lock(&open_lock);
    for (open_state *state = open_states; state; state = state->next) {
        if (!pthread_equal(state->thread, pthread_self()))
            continue;
        for (GCObject *o = G(state->main)->allgc; o; o = o->next) {
            if (o->tt == LUA_VTHREAD && is_bound(gco2th(o)))
                note_left_frames(gco2th(o), &gco2th(o)->base_ci);
        }
    }
    pthread_mutex_unlock(&open_lock);
}

void qlua_start(void)
{
    const char *options = getenv("QPROF");
    if (options == NULL || options[0] == '\0')
        return;
    qprof_InitInfo info = {0, NULL, NULL, 1};
    if (qprof_initialize_ex(&info) != 0) {
        fprintf(stderr, "qlua: not recording: %s\n", qprof_error_text());
        return;
    }
    qlua_unbound = &unbound;
    qlua_has_lines = (qprof_wants() & QPROF_WANT_LINES) != 0;
    if ((qprof_wants() & QPROF_WANT_BLOCKS) && qlua_code_open_scratch() && !atexit(note_exit))
        qlua_loop = qlua_execute_counting;
    else
        qlua_loop = qlua_execute_calls;
}

static void bind_state(lua_State *L)
{
    if (L->qth != &unbound)
        return;
    L->qvt = __atomic_add_fetch(&n_bound, 1, __ATOMIC_RELAXED);
    L->qth = qprof_thread_handle_vt(L->qvt, QPROF_INLINE_VERSION);
}

void qlua_resume(lua_State *L)
{
    bind_state(L);
    L->qprev = qprof_thread_mount(L->qth);
}

void qlua_suspend(lua_State *L)
{
    qprof_thread_mount(L->qprev);
    L->qprev = NULL;
    L->qimplicit = 0;
}

void qlua_begin(lua_State *L)
{
    if (L->qprev == NULL) {
        qlua_resume(L);
        L->qimplicit = 1;
    }
}

void qlua_end(lua_State *L)
{
    if (L->qimplicit)
        qlua_suspend(L);
}

void qlua_unwind(lua_State *L, CallInfo *to)
{
    if (!is_bound(L))
        return;
    if (qlua_is_counting())
        note_left_frames(L, to);
    if (to->qid == 0 && L->qprev != NULL)
        qprof_thread_mount(L->qth); /* a coroutine may be closing the main state below it */
    else if (to->qid == 0)
        qlua_begin(L); /* another state may be closing this one */
    qprof_exit(L->qth, to->qid);
    if (to->qid == 0)
        qlua_end(L);
}

void qlua_free_thread(lua_State *L)
{
    if (!is_bound(L))
        return;
    if (qlua_is_counting())
        note_left_frames(L, &L->base_ci);
    qprof_thread_destroy_vt(L->qvt);
}

void qlua_open(lua_State *L)
{
    open_state *state = L->qth ? malloc(sizeof *state) : NULL;
    if (state == NULL)
        return;
    pthread_mutex_lock(&open_lock);
    *state = (open_state){L, pthread_self(), open_states};
    open_states = state;
    pthread_mutex_unlock(&open_lock);
}

void qlua_close(lua_State *L)
{
    if (L->qth == NULL)
        return;
    qlua_free_thread(L);
    qlua_cfunctions_forget();
    qlua_code_bury(L);
    pthread_mutex_lock(&open_lock);
    for (open_state **link = &open_states; *link; link = &(*link)->next) {
        open_state *state = *link;
        if (state->main == L) {
            *link = state->next;
            free(state);
            break;
        }
    }
    pthread_mutex_unlock(&open_lock);
}
