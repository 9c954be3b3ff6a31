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
    int first_jump;        /* instruction of counter 0 */
    int n_window;          /* counters from there up to the last jump */
    int n_jumps;           /* n_window, and one for each block: frames left in it */
    qprof_JumpInfo *jumps; /* [n_jumps] */
} qlua_blocks;

LUAI_FUNC int qlua_has_lines; /* line tables are wanted */

/** Are jumps counted? */
static inline int qlua_is_counting(void)
{
    return qlua_loop == qlua_execute_counting;
}

/** A new method id. Threads: any. */
LUAI_FUNC size_t qlua_method_new(void);

/** Room for counters that nobody reads. @return 0: it cannot be had */
LUAI_FUNC int qlua_code_open_scratch(void);

/** What is known of a prototype, made if need be; NULL: no memory. */
LUAI_FUNC qlua_code *qlua_code_record(Proto *p);
/** Free the records of collected prototypes. Only while no sweep is under way. */
LUAI_FUNC void qlua_code_bury(lua_State *L);

/** @return 0, nothing to free: no line information, not Lua's own bytecode, no memory */
LUAI_FUNC int qlua_blocks_find(const Proto *p, qlua_blocks *blocks);
LUAI_FUNC void qlua_blocks_free(qlua_blocks *blocks);

/** Libraries may be unloaded now: names and addresses are looked up again. */
LUAI_FUNC void qlua_cfunctions_forget(void);

/** What the loaded modules call a function: "module.name", or "module:name" of a method.
 * @param module  preferred; NULL: the shortest name, the first in the alphabet
 * @param name    [QLUA_NAME_BYTES]; untouched on failure
 * @return 0: no module has it. Reads tables only. Cost: their size */
LUAI_FUNC int qlua_name_loaded(lua_State *L, const TValue *f, const char *module, char *name);
/** Name a prototype: as its module does, as the enclosing function does, or FILE:LINE. */
LUAI_FUNC void qlua_name_code(lua_State *L, CallInfo *ci, const Proto *p, char *name);
/** Give the prototypes that p defines the names that p gives them. */
LUAI_FUNC void qlua_name_inner(lua_State *L, CallInfo *ci, const Proto *p);
/** Source file of a prototype, as it is to be shown. @param file  [LUA_IDSIZE] for others
 * @return the path, borrowed from p, or `file` */
LUAI_FUNC const char *qlua_name_source(const Proto *p, char *file);

#endif
