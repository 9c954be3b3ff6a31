/* qlua_cfunction.c: C functions become methods, at their first entry.
 *
 * A C function is identified by library and offset. While libraries cannot be unloaded its
 * address suffices: closing a state may unload one, and another may be loaded at the same
 * address. */
#define LUA_CORE
#define _GNU_SOURCE /* dladdr */
#include "lprefix.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qlua_glue.h"

enum { BUCKETS = 1024 };

/* One C function. Never freed. */
typedef struct cfunction {
    lua_CFunction live; /* NULL: the library may have been unloaded meanwhile */
    size_t id;
    struct cfunction *next; /* in the bucket */
    lua_CFunction f;
    char *file; /* its library; with the offset the identity */
    size_t offset;
} cfunction;

static cfunction *buckets[BUCKETS]; /* readers take no lock: records are never removed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of changes */

static cfunction **bucket_of(lua_CFunction f)
{
    return &buckets[((uintptr_t)f >> 4) % BUCKETS];
}

/* Functions of Lua's own libraries that no table holds. */
static const struct {
    const char *symbol, *name;
} own_names[] = {
    {"gctm", "package.__gc"},
    {"gmatch_aux", "string.gmatch iterator"},
    {"io_readline", "io.lines iterator"},
    {"ipairsaux", "ipairs iterator"},
    {"luaB_auxwrap", "coroutine.wrap function"},
    {"msghandler", "lua message handler"},
    {"pmain", "lua"},
};

static void name_by_symbol(const char *symbol, const char *file, char *name)
{
    for (size_t i = 0; symbol && i < sizeof own_names / sizeof *own_names; i++) {
        if (strcmp(symbol, own_names[i].symbol) == 0)
            symbol = own_names[i].name;
    }
    const char *base = strrchr(file, '/');
    if (symbol)
        snprintf(name, QLUA_NAME_BYTES, "%s", symbol);
    else
        snprintf(name, QLUA_NAME_BYTES, "C function of %s", base ? base + 1 : file);
}

static size_t define_cfunction(lua_State *L, lua_CFunction f, const Dl_info *info,
                               const char *symbol)
{
    char name[QLUA_NAME_BYTES];
    TValue value;
    setfvalue(&value, f);
    if (!qlua_name_loaded(L, &value, NULL, name))
        name_by_symbol(symbol, info->dli_fname, name);
    return qlua_define(name, "", NULL, 0);
}

/* Under the lock. The record of this function, if it was seen before; *id: of its identity. */
static cfunction *find_again(lua_CFunction f, const char *file, size_t offset, size_t *id)
{
    *id = 0;
    for (size_t slot = 0; slot < BUCKETS; slot++) {
        for (cfunction *it = buckets[slot]; it; it = it->next) {
            if (it->offset != offset || strcmp(it->file, file) != 0)
                continue;
            *id = it->id;
            if (it->f == f)
                return it;
        }
    }
    return NULL;
}

/* Under the lock. @return NULL: no memory */
static cfunction *new_cfunction(lua_CFunction f, const char *file, size_t offset, size_t id)
{
    cfunction *it = calloc(1, sizeof *it);
    char *copy = strdup(file);
    if (it == NULL || copy == NULL) {
        free(it);
        free(copy);
        return NULL;
    }
    it->f = f;
    it->id = id;
    it->file = copy;
    it->offset = offset;
    return it;
}

/* Under the lock. @return 0: no memory */
static int put(cfunction *it, cfunction **bucket)
{
    if (it == NULL)
        return 0;
    it->next = *bucket;
    __atomic_store_n(bucket, it, __ATOMIC_RELEASE);
    __atomic_store_n(&it->live, it->f, __ATOMIC_RELAXED);
    return 1;
}

/* Under the lock. */
static size_t add_cfunction(lua_State *L, lua_CFunction f, cfunction **bucket)
{
    Dl_info info = {0};
    void *address;
    memcpy(&address, &f, sizeof address);
    if (!dladdr(address, &info) || info.dli_fname == NULL)
        info.dli_fname = "unknown code";
    size_t offset = (size_t)((char *)address - (char *)info.dli_fbase);
    size_t id;
    cfunction *it = find_again(f, info.dli_fname, offset, &id);
    if (it == NULL) {
        if (id == 0)
            id = define_cfunction(L, f, &info,
                                  info.dli_saddr == address ? info.dli_sname : NULL);
        it = new_cfunction(f, info.dli_fname, offset, id);
        return put(it, bucket) ? id : QPROF_METHOD_NATIVE;
    }
    __atomic_store_n(&it->live, f, __ATOMIC_RELAXED);
    return it->id;
}

int qlua_cfunction_scratch(lua_CFunction f, size_t id)
{
    pthread_mutex_lock(&lock);
    int is_put = put(new_cfunction(f, "", 0, id), bucket_of(f));
    pthread_mutex_unlock(&lock);
    return is_put;
}

static __attribute__((noinline)) size_t find_cfunction(lua_State *L, lua_CFunction f)
{
    cfunction **bucket = bucket_of(f);
    cfunction *it = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    for (; it; it = it->next) {
        if (__atomic_load_n(&it->live, __ATOMIC_RELAXED) == f)
            return it->id;
    }
    uint64_t begun = qprof_work_begin();
    pthread_mutex_lock(&lock);
    size_t id = add_cfunction(L, f, bucket);
    pthread_mutex_unlock(&lock);
    qprof_work_end(begun);
    return id;
}

static inline size_t method_of(lua_State *L, lua_CFunction f)
{
    const cfunction *first = __atomic_load_n(bucket_of(f), __ATOMIC_ACQUIRE);
    if (l_likely(first && __atomic_load_n(&first->live, __ATOMIC_RELAXED) == f))
        return first->id;
    return find_cfunction(L, f);
}

size_t qlua_cfunction_method(lua_State *L, lua_CFunction f)
{
    return method_of(L, f);
}

void qlua_call_c(lua_State *L, CallInfo *ci, lua_CFunction f)
{
    qlua_entry(L, ci, method_of(L, f));
}

void qlua_cfunctions_forget(void)
{
    pthread_mutex_lock(&lock);
    for (size_t slot = 0; slot < BUCKETS; slot++) {
        for (cfunction *it = buckets[slot]; it; it = it->next)
            __atomic_store_n(&it->live, NULL, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
}
