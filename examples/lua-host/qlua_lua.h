/* qlua_lua.h: what differs between the releases of Lua that qlua is made of. */
#ifndef QLUA_LUA_H
#define QLUA_LUA_H

#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"
#include "ltable.h"

/* A pointer into the Lua stack. */
#if LUA_VERSION_RELEASE_NUM >= 50405
#define qlua_at(pointer) ((pointer).p)
#else
#define qlua_at(pointer) (pointer)
#endif
#define qlua_func(ci) qlua_at((ci)->func)
#define qlua_top(L)   qlua_at((L)->top)

/* The characters of a string value. */
#define qlua_text(v) getstr(tsvalue(v))

#if LUA_VERSION_NUM >= 505

#define qlua_main(g)      mainthread(g)
#define qlua_is_vararg(p) isvararg(p)

/* OP_SETLIST: how many registers, after which index. */
#define QLUA_SETLIST_N(i)     GETARG_vB(i)
#define QLUA_SETLIST_AFTER(i) GETARG_vC(i)
#define QLUA_MAX_AFTER        MAXARG_vC
/* OP_SELF: whether the name is a constant. */
#define QLUA_SELF_K(i)        1

static inline unsigned qlua_array_size(const Table *t)
{
    return t->asize;
}

static inline TValue qlua_array_at(const Table *t, unsigned i)
{
    TValue v;
    arr2obj(t, i, &v);
    return v;
}

#else

#define qlua_main(g)          ((g)->mainthread)
#define qlua_is_vararg(p)     ((p)->is_vararg)
#define QLUA_SETLIST_N(i)     GETARG_B(i)
#define QLUA_SETLIST_AFTER(i) GETARG_C(i)
#define QLUA_MAX_AFTER        MAXARG_C
#define QLUA_SELF_K(i)        GETARG_k(i)

static inline unsigned qlua_array_size(const Table *t)
{
    return luaH_realasize(t);
}

static inline TValue qlua_array_at(const Table *t, unsigned i)
{
    return t->array[i];
}

#endif

#endif
