/* qlua_code.c: prototypes become methods at their first entry, or for coverage at the entry of
 * their main chunk.
 *
 * The address of a collected prototype is reused, so a method is identified by its content:
 * source, lines, bytecode, constants, and its place among the functions of its line. Code that is
 * loaded again is the same method. Text that comes from no file may differ each time it is made:
 * its functions are identified by the name that the program gave it, or else by the place that
 * loaded it, and by their own names. */
#define LUA_CORE
#define _GNU_SOURCE /* mmap */
#include "lprefix.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lgc.h"
#include "qlua_glue.h"

/* Methods that are distinguished; all further code is one method. At most 32 MiB. */
enum { MAX_KNOWN = 1 << 19 };

typedef struct {
    uint64_t hash; /* 0: free */
    size_t id;
    uint64_t shape; /* of its blocks, if code that differs is the same method */
    int has_jumps;  /* its jumps are registered: each has a counter */
} known_code;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static known_code *known; /* [n_slots], open addressing, at most half full */
static size_t n_slots, n_known;
static size_t more_code; /* the method of all further code; 0: not yet needed */

/* Counters of code without counters of its own: written, never read. Address space, little
 * memory. */
static const size_t scratch_bytes = (size_t)1 << 28;
static char *scratch;

size_t qlua_define(const char *name, const char *file, const qprof_LineInfo *lines, int n_lines)
{
    size_t id = qprof_define(name, NULL, file, lines, n_lines);
    return id ? id : QPROF_METHOD_LOADER;
}

int qlua_code_open_scratch(void)
{
    void *room = mmap(NULL, scratch_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    scratch = room == MAP_FAILED ? NULL : room;
    return scratch != NULL;
}

/* ---- content ----------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    uint64_t rest = n;
    for (size_t i = 0; i < n; i++)
        rest = rest << 8 | at[i];
    return mix(hash, rest);
}

static uint64_t mix_constant(uint64_t hash, const TValue *k)
{
    hash = mix(hash, (uint64_t)ttypetag(k));
    if (ttisstring(k))
        return mix_bytes(hash, qlua_text(k), tsslen(tsvalue(k)));
    if (ttisinteger(k))
        return mix(hash, (uint64_t)ivalue(k));
    if (ttisfloat(k)) {
        lua_Number number = fltvalue(k);
        return mix_bytes(hash, &number, sizeof number);
    }
    return hash;
}

static uint64_t content_hash(const Proto *p)
{
    uint64_t hash = mix((uint64_t)p->linedefined << 32, (uint64_t)p->lastlinedefined);
    if (p->source)
        hash = mix_bytes(hash, getstr(p->source), tsslen(p->source));
    hash = mix_bytes(hash, p->code, (size_t)p->sizecode * sizeof *p->code);
    for (int i = 0; i < p->sizek; i++)
        hash = mix_constant(hash, &p->k[i]);
    return hash;
}

int qlua_code_is_same(const Proto *a, const Proto *b)
{
    int is_same = content_hash(a) == content_hash(b) && a->sizep == b->sizep;
    for (int i = 0; is_same && i < a->sizep; i++)
        is_same = qlua_code_is_same(a->p[i], b->p[i]);
    return is_same;
}

/* What counters count: equal where code differs in its constants alone. */
static uint64_t shape_of(const qlua_blocks *b)
{
    uint64_t hash = mix_bytes(1, b->lines, (size_t)b->n_blocks * sizeof *b->lines);
    hash = mix_bytes(hash, b->falls, (size_t)b->n_blocks * sizeof *b->falls);
    return mix_bytes(hash, b->jumps, (size_t)b->n_jumps * sizeof *b->jumps);
}

/* Text that comes from no file. It may differ each time it is made. */
static int is_in_memory(const Proto *p)
{
    return p->source && getstr(p->source)[0] != '@';
}

/* @param shape  0: code of another shape is the same method */
static uint64_t identity_of(const Proto *p, uint64_t shape)
{
    const qlua_code *code = p->qcode;
    if (code == NULL || !is_in_memory(p))
        return mix(content_hash(p), code ? (uint64_t)code->place : 0) | 1;
    const char *from = code->origin ? code->origin : getstr(p->source);
    const char *name = code->name ? code->name : "";
    uint64_t line = code->origin ? p->linedefined != 0 : (uint64_t)p->linedefined;
    uint64_t order = (uint64_t)(code->origin ? code->n_twins : code->place);
    uint64_t hash = mix(mix(mix_bytes(shape, from, strlen(from)), line), order);
    return mix_bytes(hash, name, strlen(name)) | 1;
}

/* ---- the table of contents --------------------------------------------------------------- */

static known_code *find_slot(known_code *table, size_t size, uint64_t hash)
{
    size_t i = hash & (size - 1);
    while (table[i].hash && table[i].hash != hash)
        i = (i + 1) & (size - 1);
    return &table[i];
}

static int grow_known(void)
{
    size_t size = n_slots ? n_slots * 2 : 1024;
    known_code *table = calloc(size, sizeof *table);
    if (table == NULL)
        return 0;
    for (size_t i = 0; i < n_slots; i++) {
        if (known[i].hash)
            *find_slot(table, size, known[i].hash) = known[i];
    }
    free(known);
    known = table;
    n_slots = size;
    return 1;
}

/* Under the lock. @return the method of this identity; its id is 0 until it is registered; NULL:
 * the table is full */
static known_code *method_of_identity(uint64_t hash)
{
    known_code *slot = n_slots ? find_slot(known, n_slots, hash) : NULL;
    if (slot && slot->hash)
        return slot;
    if (n_known >= MAX_KNOWN || (n_known * 2 >= n_slots && !grow_known()))
        return NULL;
    n_known++;
    slot = find_slot(known, n_slots, hash);
    slot->hash = hash;
    return slot;
}

/* Under the lock. */
static size_t method_of_more_code(void)
{
    if (more_code == 0)
        more_code = qlua_define("<more Lua code>", "", NULL, 0);
    return more_code;
}

/* ---- records of prototypes --------------------------------------------------------------- */

static qlua_code *dead; /* of any state; under the lock */

void qlua_code_drop(lua_State *L, Proto *p)
{
    qlua_code *code = p->qcode;
    if (code == NULL)
        return;
    pthread_mutex_lock(&lock);
    code->owner = G(L);
    code->next = dead;
    dead = code;
    pthread_mutex_unlock(&lock);
}

void qlua_code_bury(lua_State *L)
{
    pthread_mutex_lock(&lock);
    for (qlua_code **link = &dead; *link;) {
        qlua_code *code = *link;
        if (code->owner != G(L)) {
            link = &code->next;
            continue;
        }
        *link = code->next;
        free(code->leaders);
        free(code->name);
        free(code);
    }
    pthread_mutex_unlock(&lock);
}

qlua_code *qlua_code_record(Proto *p)
{
    if (p->qcode == NULL)
        p->qcode = calloc(1, sizeof *p->qcode);
    return p->qcode;
}

int qlua_code_block(const qlua_code *code, int at)
{
    int low = 0;
    for (int high = code->n_blocks; high - low > 1;) {
        int middle = low + (high - low) / 2;
        if (code->leaders[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void qlua_code_left(const qlua_code *code, const Instruction *pc, int is_joined)
{
    if (code->left == NULL)
        return;
    int block = qlua_code_block(code, (int)(pc - code->code) - 1); /* pc is the next one's */
    code->left[block + (is_joined ? code->n_blocks : 0)]++;
}

void qlua_code_ignore(Proto *p)
{
    p->qjumps = (uintptr_t)scratch - 2 * (uintptr_t)(p->code - 1);
}

void qlua_code_point(Proto *p)
{
    qlua_code *code = p->qcode;
    uint64_t *counters = code->leaders ? qprof_counter_bank(p->qid) : NULL;
    int is_apart = qlua_is_brief && qlua_loop == qlua_execute_gated; /* which counts jumps */
    code->left = counters && !qlua_is_brief ? counters + code->n_window : NULL;
    code->entries = is_apart ? counters : NULL;
    if (counters && !is_apart)
        p->qjumps = (uintptr_t)counters - 2 * (uintptr_t)(p->code - 1);
    else
        qlua_code_ignore(p);
}

/* Point the prototype at the counters of its method; if it has none, at the scratch memory. */
static void attach_counters(Proto *p, const qlua_blocks *b)
{
    qlua_code *code = b ? qlua_code_record(p) : NULL;
    int *leaders = code ? malloc(2 * (size_t)b->n_blocks * sizeof *leaders) : NULL;
    if (leaders == NULL) {
        qlua_code_ignore(p);
        return;
    }
    for (int i = 0; i < b->n_blocks; i++) {
        leaders[i] = b->lines[i].code_offset;
        leaders[b->n_blocks + i] = b->befores ? b->befores[i] : i;
    }
    code->code = p->code;
    code->leaders = leaders;
    code->befores = leaders + b->n_blocks;
    code->n_blocks = b->n_blocks;
    code->n_window = b->n_window;
    qlua_code_point(p);
}

static void register_code(lua_State *L, CallInfo *ci, const Proto *p, const qlua_blocks *b,
                          known_code *slot)
{
    char name[QLUA_NAME_BYTES], file[LUA_IDSIZE];
    qlua_name_code(L, ci, p, name);
    slot->id = qlua_define(name, qlua_name_source(p, file), b->lines, b->n_blocks);
    slot->has_jumps = qlua_is_counting() && b->n_blocks &&
                      qprof_register_jumps(slot->id, b->jumps, b->n_jumps, b->falls) == 0;
    if (slot->has_jumps && b->sizes)
        qprof_register_instructions(slot->id, b->sizes, b->n_blocks);
}

void qlua_code_add(lua_State *L, CallInfo *ci, Proto *p, int is_wanted)
{
    qlua_blocks blocks = {0};
    if (is_wanted && qlua_has_lines)
        qlua_blocks_find(p, &blocks);
    else if (is_wanted && qlua_is_covering)
        qlua_blocks_declare(p, &blocks);
    uint64_t shape = is_in_memory(p) && blocks.n_blocks ? shape_of(&blocks) : 0;
    pthread_mutex_lock(&lock);
    known_code *slot = method_of_identity(identity_of(p, qlua_is_covering ? shape : 0));
    if (slot && slot->id == 0) {
        register_code(L, ci, p, &blocks, slot);
        slot->shape = shape;
    }
    p->qid = slot ? slot->id : method_of_more_code();
    int has_jumps = slot && slot->has_jumps && slot->shape == shape;
    pthread_mutex_unlock(&lock);
    if (qlua_is_counting())
        attach_counters(p, has_jumps ? &blocks : NULL);
    qlua_blocks_free(&blocks);
}

size_t qlua_code_method(lua_State *L, CallInfo *ci, Proto *p)
{
    uint64_t begun = qprof_work_begin();
    if (!issweepphase(G(L)))
        qlua_code_bury(L);
    qlua_name_chunk(L, ci, p, qlua_name_module(L, ci, p));
    if (qlua_is_covering)
        qlua_cover_code(L, ci, p);
    else
        qlua_code_add(L, ci, p, 1);
    qprof_work_end(begun);
    return p->qid;
}

void qlua_entry_tail(lua_State *L, CallInfo *ci)
{
    Proto *p = ci_func(ci)->p;
    size_t method = l_likely(p->qid) ? p->qid : qlua_code_method(L, ci, p);
    ci->qtoken = qprof_tail(&L->qstack, ci->qtoken, method);
}
