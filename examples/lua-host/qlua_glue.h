/* qlua_glue.h: what the files of the glue say to each other. */
#ifndef QLUA_GLUE_H
#define QLUA_GLUE_H

#include "qlua.h"

enum { QLUA_NAME_BYTES = 256 };

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
    unsigned char *falls;  /* [n_blocks] execution may go on in the next block */
    int n_window;          /* counters of the entry and of instructions up to the last jump */
    int n_jumps;           /* n_window, and two for each block: frames left and joined in it */
    qprof_JumpInfo *jumps; /* [n_jumps] */
} qlua_blocks;

LUAI_FUNC int qlua_has_lines;   /* line tables are wanted */
LUAI_FUNC int qlua_is_covering; /* all functions of a file are wanted, called or not */

/** Are entries and jumps counted? */
static inline int qlua_is_counting(void)
{
    return qlua_loop == qlua_execute_counting || qlua_loop == qlua_execute_coverage ||
           qlua_loop == qlua_execute_gated;
}

/** Has the state a handle? */
LUAI_FUNC int qlua_is_bound(const lua_State *L);

/** Method id of the function of a frame. */
LUAI_FUNC size_t qlua_frame_method(lua_State *L, CallInfo *ci);
/** Method id of a C function, never 0. Threads: any. */
LUAI_FUNC size_t qlua_cfunction_method(lua_State *L, lua_CFunction f);

/** A new method id. Threads: any. */
LUAI_FUNC size_t qlua_method_new(void);

/** Call visit(main state, is_joined) for the open states of the calling system thread. */
LUAI_FUNC void qlua_states_visit(void (*visit)(lua_State *main_state, int is_joined),
                                 int is_joined);

/** What is wanted has changed: another loop, if one that counts runs. */
LUAI_FUNC void qlua_choose_loop(void);
/** The state's calls are told from now on, if they were not. */
LUAI_FUNC void qlua_tell(lua_State *L);

/** A function that is left through luaD_poscall. */
LUAI_FUNC void qlua_gated_leave(lua_State *L, CallInfo *ci, StkId results, int n_results);

/** Obey what was changed by a call that Lua code made. */
static inline void qlua_settle(lua_State *L)
{
    if (qlua_is_counting() && qlua_is_changed(L))
        qlua_change(L, NULL);
}

/* ---- qlua_context.c ---------------------------------------------------------------------- */

/** The frames above `to` are left where they stand, or joined there, if they are counted. */
LUAI_FUNC void qlua_note_frames(const lua_State *L, const CallInfo *to, int is_joined);
/** All frames of a state. */
LUAI_FUNC void qlua_note_state(lua_State *main_state, int is_joined);
/** act(text), with all frames noted as left before it and as joined behind it.
 * @return what act returns */
LUAI_FUNC int qlua_border(const lua_State *L, int (*act)(const char *), const char *text);
LUAI_FUNC void qlua_context_resume(lua_State *L);
LUAI_FUNC void qlua_context_suspend(lua_State *L);
/** A coroutine is freed: it resumes nobody any more. */
LUAI_FUNC void qlua_context_forget(lua_State *L);

/* ---- qlua_poll.c, qlua_trace.c ----------------------------------------------------------- */

/** A call from C, out of any function or from one, while samples are taken from Lua's stack. */
LUAI_FUNC void qlua_poll_call(lua_State *L, StkId func, int n_results);
/** Values of arguments and results are told, too. */
LUAI_FUNC int qlua_has_values;

/* ---- qlua_code.c ------------------------------------------------------------------------- */

/** Room for counters that nobody reads. @return 0: it cannot be had */
LUAI_FUNC int qlua_code_open_scratch(void);

/** Make a method of a prototype, if it is none, and put its counters in place.
 * @param ci      of the call that needs it; NULL: it is named by the code that defines it
 * @param module  that it is a part of; NULL: none is known
 * @param is_wanted  0: neither its lines nor where it is declared */
LUAI_FUNC void qlua_code_add(lua_State *L, CallInfo *ci, Proto *p, const qlua_module *module,
                             int is_wanted);
/** Executions of a prototype that has no method are counted nowhere. */
LUAI_FUNC void qlua_code_ignore(Proto *p);
/** A frame was left, or joined, in the block of the instruction before `pc`. */
LUAI_FUNC void qlua_code_left(const qlua_code *code, const Instruction *pc, int is_joined);
/** Ask for the counters of a prototype's method again. */
LUAI_FUNC void qlua_code_point(Proto *p);

/** What is known of a prototype, made if need be; NULL: no memory. */
LUAI_FUNC qlua_code *qlua_code_record(Proto *p);
/** Free the records of collected prototypes. Only while no sweep is under way. */
LUAI_FUNC void qlua_code_bury(lua_State *L);

/** @return 0, nothing to free: no line information, not Lua's own bytecode, no memory */
LUAI_FUNC int qlua_blocks_find(const Proto *p, qlua_blocks *blocks);
/** Only where the prototype is declared. @return as qlua_blocks_find() */
LUAI_FUNC int qlua_blocks_declare(const Proto *p, qlua_blocks *blocks);
LUAI_FUNC void qlua_blocks_free(qlua_blocks *blocks);

/** Libraries may be unloaded now: names and addresses are looked up again. */
LUAI_FUNC void qlua_cfunctions_forget(void);

/* ---- qlua_cover.c, qlua_unloaded.c ------------------------------------------------------- */

/** Read the options. Once, before the first state. */
LUAI_FUNC void qlua_cover_open(void);
/** Is the code of this file to be covered? @param path  as loaded; NULL: no file */
LUAI_FUNC int qlua_cover_has(const char *path);
/** Tell the user, in one line, that something is not covered. */
LUAI_FUNC void qlua_cover_say(const char *what, const char *why);
/** The folder that covered files lie in; the current one if none was given. Absolute. */
LUAI_FUNC const char *qlua_cover_root(void);
/** Register a prototype that is entered and all that it defines. */
LUAI_FUNC void qlua_cover_code(lua_State *L, CallInfo *ci, Proto *p, const qlua_module *module);
/** Register a file that was compiled and will not run. */
LUAI_FUNC void qlua_cover_file(lua_State *L, Proto *p, const qlua_module *module);
/** Is the code of two prototypes, and of all that they define, the same? */
LUAI_FUNC int qlua_code_is_same(const Proto *a, const Proto *b);
/** The main chunk p says that it is a file's: note the file and, if it is covered, its text. A chunk
 * from a string may say so, too, of any file: what that file has must compile to the same code.
 * @param p  NULL: it is known to come from the file */
LUAI_FUNC void qlua_cover_loaded(const char *path, const Proto *p, int is_covered);
/** Register the files that the program could have loaded, and did not. */
LUAI_FUNC void qlua_cover_unloaded(void);

/* ---- qlua_name.c ------------------------------------------------------------------------- */

/** What the loaded modules call a function: "module.name", or "module:name" of a method.
 * @param module  preferred; NULL: the shortest name, the first in the alphabet
 * @param name    [QLUA_NAME_BYTES]; untouched on failure
 * @return 0: no module has it. Reads tables only. Cost: their size */
LUAI_FUNC int qlua_name_loaded(lua_State *L, const TValue *f, const char *module, char *name);
/** Name a prototype: as its module does, as the enclosing function does, or FILE:LINE.
 * @param ci  of a call of it; NULL: there is none */
LUAI_FUNC void qlua_name_code(lua_State *L, CallInfo *ci, const Proto *p, char *name);
/** Give the prototypes that p defines the names that p gives them. */
LUAI_FUNC void qlua_name_inner(const Proto *p, const qlua_module *module);
/** Give all functions of a main chunk, which begins in ci, their names, whichever is seen first. */
LUAI_FUNC void qlua_name_chunk(lua_State *L, CallInfo *ci, Proto *p);
/** The module that a prototype is a part of, when it is entered; NULL: none is known. */
LUAI_FUNC const qlua_module *qlua_name_module(lua_State *L, CallInfo *ci, const Proto *p);
/** The module that a main chunk is when it is required by this name. @return NULL: no memory */
LUAI_FUNC const qlua_module *qlua_name_required(const char *name, const Proto *p);
/** Source file of a prototype, as it is to be shown. @param file  [LUA_IDSIZE] for others
 * @return the path, borrowed from p, or `file` */
LUAI_FUNC const char *qlua_name_source(const Proto *p, char *file);

#endif
