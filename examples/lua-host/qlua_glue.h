/* qlua_glue.h: the functions that the files of the glue share. */
#ifndef QLUA_GLUE_H
#define QLUA_GLUE_H

#include "qlua.h"

enum { QLUA_NAME_BYTES = 256, QLUA_PLACE_BYTES = 96 };

/* A file that was loaded by require: `name`, and the local that it returns, or "". */
typedef struct qlua_module {
    const struct qlua_module *next;
    char *name;
    char *local;
} qlua_module;

/* Basic blocks and jumps of one prototype; [.] owned, see qlua_blocks_free(). */
typedef struct qlua_blocks {
    int n_blocks;
    qprof_LineInfo *lines; /* [n_blocks] first instruction of each block and its line */
    unsigned char *falls;  /* [n_blocks] execution can continue in the next block */
    unsigned *sizes;       /* [n_blocks] instructions that Lua dispatches */
    int *befores;          /* [n_blocks] what most probably ran before its first instruction */
    int n_window;          /* counters of the entry and of instructions up to the last jump */
    int n_jumps;           /* n_window, and two for each block: frames left and joined in it */
    qprof_JumpInfo *jumps; /* [n_jumps] */
} qlua_blocks;

LUAI_FUNC int qlua_has_lines;   /* line tables are wanted */
LUAI_FUNC int qlua_is_covering; /* all functions of a file are wanted, called or not */

/** Whether entries and jumps are counted. */
static inline int qlua_is_counting(void)
{
    return qlua_loop == qlua_execute_counting || qlua_loop == qlua_execute_sampled ||
           qlua_loop == qlua_execute_coverage || qlua_loop == qlua_execute_functions ||
           qlua_loop == qlua_execute_gated;
}

/** Method id of the function of a frame. */
LUAI_FUNC size_t qlua_frame_method(lua_State *L, CallInfo *ci);
/** Method id of a C function, never 0. Threads: any. */
LUAI_FUNC size_t qlua_cfunction_method(lua_State *L, lua_CFunction f);
/** Give a C function that no program has an id. @return 0: no memory */
LUAI_FUNC int qlua_cfunction_scratch(lua_CFunction f, size_t id);

/** The id of a new function, never 0. Threads: any. */
LUAI_FUNC size_t qlua_define(const char *name, const char *file, const qprof_LineInfo *lines,
                             int n_lines);

/* Of Lua's coroutine library: these do no more than resume or yield. */
int luaB_coresume(lua_State *L);
int luaB_auxwrap(lua_State *L);
int luaB_yield(lua_State *L);

/** Call visit(main state, is_joined) for the open states of the calling OS thread. */
LUAI_FUNC void qlua_states_visit(void (*visit)(lua_State *main_state, int is_joined),
                                 int is_joined);

/** A state whose memory is not the program's. @return NULL: no memory */
LUAI_FUNC lua_State *qlua_scratch_state(void);

/** Read qprof_wants() again, and choose the gated loop. */
LUAI_FUNC void qlua_choose_loop(void);
/** Report the state's calls from now on. */
LUAI_FUNC void qlua_report_calls(lua_State *L);

/** A function returns through luaD_poscall. */
LUAI_FUNC void qlua_gated_leave(lua_State *L, CallInfo *ci, StkId results, int n_results);

/** Obey a change that Lua code made through the library qlua. */
static inline void qlua_settle(lua_State *L)
{
    if (qlua_is_counting() && qlua_is_changed(L))
        qlua_change(L, NULL);
}

/* ---- qlua_context.c ---------------------------------------------------------------------- */

/** Count the frames above `to` as left, or joined, in the middle of their blocks. */
LUAI_FUNC void qlua_note_frames(const lua_State *L, const CallInfo *to, int is_joined);
/** The same for all frames of a state. */
LUAI_FUNC void qlua_note_state(lua_State *main_state, int is_joined);
/** Call act(text), with all frames counted as left before it and as joined after it.
 * @return what act returns */
LUAI_FUNC int qlua_border(const lua_State *L, int (*act)(const char *), const char *text);
LUAI_FUNC void qlua_context_resume(lua_State *L);
LUAI_FUNC void qlua_context_suspend(lua_State *L);
/** A coroutine is freed: remove it from the chain of running coroutines. */
LUAI_FUNC void qlua_context_forget(lua_State *L);

/* ---- qlua_poll.c, qlua_trace.c ----------------------------------------------------------- */

/** A call from C, out of any function or from one, while samples are taken from Lua's stack. */
LUAI_FUNC void qlua_poll_call(lua_State *L, StkId func, int n_results);
/** Values of arguments and results are traced. */
LUAI_FUNC int qlua_has_values;
/** A function is called whose arguments follow it on the stack. @param line  of the call; 0: unknown */
LUAI_FUNC void qlua_trace_call(lua_State *L, const CallInfo *ci, size_t method, int line);
/** The line of the instruction before `pc`; 0: unknown. */
LUAI_FUNC int qlua_line_before(const Proto *p, const Instruction *pc);

/* ---- qlua_keep.c ------------------------------------------------------------------------- */

/* The frame of a function that has made a tail call. */
typedef struct {
    qprof_token token;
    size_t method;
    int line; /* of the call, while calls are traced; 0: unknown */
} qlua_kept;

LUAI_FUNC int qlua_keep_is_wanted(void);
/** A tail call replaced the frame: keep what it was. @return 0: not kept, and nothing was reported
 * @param from  the function that made the call @param pc  after the call */
LUAI_FUNC int qlua_keep_tail(lua_State *L, CallInfo *ci, const Proto *from,
                             const Instruction *pc);
/** Take the innermost kept frame of a frame that has some. */
LUAI_FUNC qlua_kept qlua_keep_pop(lua_State *L, CallInfo *ci);
/** The frames above `to` end by an error. */
LUAI_FUNC void qlua_keep_unwind(lua_State *L, const CallInfo *to);
LUAI_FUNC void qlua_keep_free(lua_State *L);
/** Note in the profile how many tail calls were not kept. */
LUAI_FUNC void qlua_keep_finish(void);

/* ---- qlua_cost.c ------------------------------------------------------------------------- */

/** Have the recorder measure what a call costs. Once, before the first state. */
LUAI_FUNC void qlua_cost_measure(void);

/* ---- qlua_code.c ------------------------------------------------------------------------- */

/** Reserve memory for counters that are never read. @return 0: no memory */
LUAI_FUNC int qlua_code_open_scratch(void);

/** Make a method of a prototype, if it is not one, and put its counters in place. Its chunk is
 * named.
 * @param ci         of the call that needs it; NULL: the code that defines it gives its name
 * @param is_wanted  0: without lines and without the line that declares it */
LUAI_FUNC void qlua_code_add(lua_State *L, CallInfo *ci, Proto *p, int is_wanted);
/** Do not count the executions of a prototype. */
LUAI_FUNC void qlua_code_ignore(Proto *p);
/** Count a frame as left, or joined, in the block of the instruction before `pc`. */
LUAI_FUNC void qlua_code_left(const qlua_code *code, const Instruction *pc, int is_joined);
/** The block of an instruction. @param at  its index */
LUAI_FUNC int qlua_code_block(const qlua_code *code, int at);
/** Ask for the counters of a prototype's method again. */
LUAI_FUNC void qlua_code_point(Proto *p);

/** The data of a prototype, created if necessary. @return NULL: no memory */
LUAI_FUNC qlua_code *qlua_code_record(Proto *p);
/** Free the data of collected prototypes. Not during a sweep. */
LUAI_FUNC void qlua_code_bury(lua_State *L);

/** Find the blocks and jumps of a prototype. @return 0, and nothing to free: no line
 * information, not compiled by Lua, or no memory */
LUAI_FUNC int qlua_blocks_find(const Proto *p, qlua_blocks *blocks);
/** The same, with only the line that declares the prototype, and a counter for the entry. */
LUAI_FUNC int qlua_blocks_declare(const Proto *p, qlua_blocks *blocks);
LUAI_FUNC void qlua_blocks_free(qlua_blocks *blocks);

/** Libraries may be unloaded now: look names and addresses up again. */
LUAI_FUNC void qlua_cfunctions_forget(void);

/* ---- qlua_cover.c, qlua_unloaded.c ------------------------------------------------------- */

/** Read the options. Once, before the first state. */
LUAI_FUNC void qlua_cover_open(void);
/** Whether the code of this file is covered. @param path  as loaded; NULL: no file */
LUAI_FUNC int qlua_cover_has(const char *path);
/** Print one line: something is not covered. */
LUAI_FUNC void qlua_cover_say(const char *what, const char *why);
/** The absolute path of the folder of covered files; the current one by default. */
LUAI_FUNC const char *qlua_cover_root(void);
/** Register a prototype that is entered and all that it defines. */
LUAI_FUNC void qlua_cover_code(lua_State *L, CallInfo *ci, Proto *p);
/** Register a file that was compiled and will not run. */
LUAI_FUNC void qlua_cover_file(lua_State *L, Proto *p, const qlua_module *module);
/** Whether two prototypes, and all that they define, have the same code. */
LUAI_FUNC int qlua_code_is_same(const Proto *a, const Proto *b);
/** Note that a file was loaded and, if it is covered, its text. A chunk from a string may carry
 * the name of any file, so the text of the file must compile to the code of the chunk.
 * @param p  the main chunk; NULL: it is known to come from the file, or taken to */
LUAI_FUNC void qlua_cover_loaded(const char *path, const Proto *p, int is_covered);
/** Register the files that the program did not load, but could have. */
LUAI_FUNC void qlua_cover_unloaded(void);

/* ---- qlua_closure.c ---------------------------------------------------------------------- */

typedef enum { QLUA_NAMELESS, QLUA_NAMED, QLUA_DESCRIBED } qlua_naming;

/** Before the functions that p makes are named. */
LUAI_FUNC void qlua_closure_begin(const Proto *p);
/** Name the function that an instruction of p makes.
 * @param out  [QLUA_NAME_BYTES] its name, or what it is: "argument 2 of map at FILE:LINE" */
LUAI_FUNC qlua_naming qlua_closure_name(const Proto *p, int pc, const Proto *inner, char *out);

/* ---- qlua_name.c ------------------------------------------------------------------------- */

/** Find the name that the loaded modules give a function: "module.name", or "module:name" of a
 * method.
 * @param module  preferred; NULL: the shortest name, the first in the alphabet
 * @param name    [QLUA_NAME_BYTES]; unchanged on failure
 * @return 0: no module has it. Only reads tables; the cost is their size */
LUAI_FUNC int qlua_name_loaded(lua_State *L, const TValue *f, const char *module, char *name);
/** Name a prototype: as its module or the enclosing function does, or FILE:LINE.
 * @param ci  of a call of it; NULL: none */
LUAI_FUNC void qlua_name_code(lua_State *L, CallInfo *ci, const Proto *p, char *name);
/** The name that the program gives a prototype. @param name  [QLUA_NAME_BYTES] @return 0: none */
LUAI_FUNC int qlua_name_plain(const Proto *p, char *name);
/** Name the functions of a chunk, once, and tell them apart.
 * @param ci  of its first call; NULL: none
 * @param p   the main chunk, or a function whose chunk is not known */
LUAI_FUNC void qlua_name_chunk(lua_State *L, CallInfo *ci, Proto *p, const qlua_module *module);
/** Whether the first parameter is `self`. */
LUAI_FUNC int qlua_is_method(const Proto *p);
/** The module that a prototype is a part of, when it is entered. @return NULL: unknown */
LUAI_FUNC const qlua_module *qlua_name_module(lua_State *L, CallInfo *ci, const Proto *p);
/** The module of a main chunk that is required by this name. @return NULL: no memory */
LUAI_FUNC const qlua_module *qlua_name_required(const char *name, const Proto *p);
/** The source file of a prototype, as reports show it. @param file [LUA_IDSIZE] filled for code
 * that has no file. @return the path, borrowed from p, or `file` */
LUAI_FUNC const char *qlua_name_source(const Proto *p, char *file);

#endif
