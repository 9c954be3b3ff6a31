/* code.h: what code exists: methods, the sources that they come from, and the texts that name both.
 *
 * Nothing here takes a lock: records are claimed, filled and published, and two threads that
 * register one id at once agree on the first. */
#ifndef QP_CODE_CODE_H
#define QP_CODE_CODE_H

#include <stdbool.h>

#include "format/space.h"

/* ---- texts, each stored once ------------------------------------------------------------- */

enum { QP_TEXT_MAX = 64 * 1024 };

typedef struct {
    qp_space *space;
    qp_slab blobs;
    qp_slab blocks; /* of the index, shared with other indices of the same owner */
    qp_cell root;   /* index block; 0: none yet */
} qp_texts;

/* Store a text; longer than QP_TEXT_MAX: cut, with "...#<hash>" at its end, and counted.
 * The length is fixed first and the bytes are copied once: a host that changes them meanwhile
 * gets garbage, never an overrun.
 * @param text  NULL: none
 * @return 0: NULL, "" or no room. Threads: any. */
qp_ref qp_texts_add(qp_texts *t, const char *text);

/* The text of a ref; "" for 0. Valid as long as the file. */
const char *qp_texts_at(const qp_texts *t, qp_ref ref);

/* The same of a place that another thread may be storing into. */
const char *qp_texts_of(const qp_texts *t, const qp_ref *place);

/* A zeroed index block; 0: no room. For qp_trie. */
uint32_t qp_texts_block(void *texts);

/* ---- which text each source file had when its code was loaded ---------------------------- */

typedef struct {
    qp_space *space;
    qp_texts *texts;
    qp_slab slab;
    qp_cell root; /* index block: ref of the path -> record */
    bool has_maps;
} qp_sources;

/* @return false: no room */
bool qp_sources_begin(qp_sources *s, qp_space *space, qp_texts *texts);

/* Keep the length and digest of a text; they replace those of an earlier call.
 * @return false: no room. Threads: one at a time. */
bool qp_sources_add(qp_sources *s, const char *path, const void *text, uint64_t n_bytes);

/* The same of a text whose digest is known. */
bool qp_sources_put(qp_sources *s, const char *path, uint64_t digest, uint64_t n_bytes);

/* ---- source maps: which file and line a generated line comes from: source_map.c ----------- */

typedef struct {
    qp_ref source; /* text: path of the file; 0: the line comes from none */
    int32_t line;  /* from 1 */
} qp_mapped_line;

/* In the file, for the recorder alone. */
typedef struct {
    uint32_t n_lines, reserved;
    qp_mapped_line lines[];
} qp_source_map;

typedef enum {
    QP_SOURCE_MAP_SET,
    QP_SOURCE_MAP_BAD,
    QP_SOURCE_MAP_NO_ROOM
} qp_source_map_result;
/* Keep what a source map says of a generated file; it replaces that of an earlier call. */
qp_source_map_result qp_source_map_add(qp_sources *s, const char *file, const char *text,
                                       size_t n_bytes);
/* The map of a file; NULL: none. Threads: any */
const qp_source_map *qp_sources_map(qp_sources *s, const char *file);
bool qp_sources_set_map(qp_sources *s, const char *file, qp_ref map);
/* The source of the first line that has one; 0: none. */
qp_ref qp_source_map_source(const qp_source_map *map, const qp_line *lines, int64_t n_lines);
/* Replace the lines by those of one source; where a line comes from none or from another one, by the line
 * before it in the table, or 0. */
void qp_source_map_apply(const qp_source_map *map, qp_ref source, qp_line *lines,
                         uint32_t n_lines);

/* ---- one record for each method id that was ever mentioned ------------------------------- */

typedef struct {
    qp_space *space;
    qp_texts *texts;
    qp_slab slab;
    qp_cell root;      /* index block: id -> record */
    qp_cell anonymous; /* the record of id 0 */
    qp_cell overflow;  /* the record of <overflow> */
    qp_ref module;     /* of methods registered from now on */
} qp_methods;

typedef struct {
    uint64_t id;
    const char *name, *class_name, *file;
    unsigned
        flags; /* QP_METHOD_BLOCKS, _WAITS, _INLINED, and of the recorder's own: _PSEUDO, _ENDPOINT */
    const qp_line *lines; /* [n_lines]; NULL: none */
    int64_t n_lines;
    const qp_source_map *map; /* of the file; NULL: none */
} qp_method_info;

/* Of the 16 highest ids of a pointer's size four are pseudo-methods and twelve mean nothing. */
bool qp_method_is_pseudo(uint64_t id);
const char *qp_method_pseudo_name(uint64_t id); /* of one that is */
/* An id that means no method: 0, or reserved and no pseudo-method. */
bool qp_method_is_nameless(uint64_t id);

/* @return false: no room */
bool qp_methods_begin(qp_methods *m, qp_space *space, qp_texts *texts);

/* @return the record, or 0 */
qp_cell qp_methods_find(qp_methods *m, uint64_t id);

/* The record, or a placeholder that a later registration fills. *is_new: this call made it.
 * @return 0: no room */
qp_cell qp_methods_mention(qp_methods *m, uint64_t id, bool *is_new);

/* Is it known by more than its id? */
bool qp_method_is_registered(const qp_methods *m, qp_cell method);

/* It was entered unregistered. @return true: for the first time */
bool qp_method_miss(qp_methods *m, qp_cell method);

typedef enum { QP_REGISTERED, QP_KNOWN, QP_BAD_ID, QP_NO_ROOM } qp_registration;
qp_registration qp_methods_register(qp_methods *m, const qp_method_info *info);

/* Change the name; NULL: it has none. @return false: no registered method has the id */
bool qp_methods_rename(qp_methods *m, uint64_t id, const char *name, const char *class_name);
/* Free the id for another method; the record loses it. @return as above */
bool qp_methods_unload(qp_methods *m, uint64_t id);

/* Index in the line table of the block that holds a code offset; -1: none. */
int qp_method_block_at(const qp_methods *m, qp_cell method, int code_offset);
/* Its line; -1: none. */
int qp_method_line_at(const qp_methods *m, qp_cell method, int code_offset);

/* Entries of the line table. */
uint32_t qp_method_n_blocks(const qp_methods *m, qp_cell method);

typedef enum { QP_JUMPS_SET, QP_JUMPS_BAD, QP_JUMPS_NO_ROOM } qp_jumps_result;
/* @param jumps [n_jumps], falls [n_blocks of the method]; copied. Once a method. */
qp_jumps_result qp_method_set_jumps(qp_methods *m, qp_cell method, const qp_jump *jumps,
                                    int64_t n_jumps, const unsigned char *falls);

typedef enum { QP_SIZES_SET, QP_SIZES_BAD, QP_SIZES_NO_ROOM } qp_sizes_result;
/* @param sizes  [n] instructions of each block; copied. Once a method; n is that of its blocks. */
qp_sizes_result qp_method_set_sizes(qp_methods *m, qp_cell method, const uint32_t *sizes,
                                    int64_t n);

#endif
