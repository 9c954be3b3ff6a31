/* lines.h: figures of basic blocks, jumps and source lines, and the sources themselves. */
#ifndef QP_MODEL_LINES_H
#define QP_MODEL_LINES_H

#include "model/model.h"

/* A block of a method: an entry of its line table. */
typedef struct {
    int32_t line, code_offset;
    bool is_counted;      /* the host counts blocks of this method: count is known */
    bool is_timed;        /* marked at least once: self and total are its */
    uint64_t count;       /* executions */
    uint64_t self, total; /* ticks; total: callees included */
} qp_block_figures;

/** Blocks of a method, in table order.
 * @param thread  index, or QP_ALL_THREADS
 * @param out     [*n] free with qp_free(); *n is methods[method].n_blocks
 * @return false: no memory */
bool qp_model_blocks(const qp_model *m, uint32_t method, uint32_t thread,
                     qp_block_figures **out, size_t *n);

/* A jump of a method, from one of its blocks to another. */
typedef struct {
    int32_t from_line, to_line;
    bool is_conditional; /* execution may also go on elsewhere */
    uint64_t taken;
    uint64_t executed; /* the block that jumps */
} qp_jump_figures;

/** Jumps of a method, as its host registered them.
 * @param thread  index, or QP_ALL_THREADS
 * @param out     [*n] free with qp_free(); *n is 0 where jumps are not counted
 * @return false: no memory */
bool qp_model_jumps(const qp_model *m, uint32_t method, uint32_t thread, qp_jump_figures **out,
                    size_t *n);

/* A line of one source file. */
typedef struct {
    uint32_t line;
    uint32_t n_blocks; /* blocks that begin on it */
    uint32_t n_missed; /* counted ones that were never executed; 0 < n_missed < n_blocks:
                          * partially hit */
    bool is_counted, is_timed;
    uint64_t count;       /* of the block that was executed most */
    uint64_t self, total; /* ticks: sums over its blocks */
} qp_line_figures;

/** Lines of a source file that have code, ascending.
 * @param file    as in qp_model_method.file
 * @param method  only this one's lines; 0: of all methods in the file
 * @return false: no memory */
bool qp_model_lines(const qp_model *m, const char *file, uint32_t method, uint32_t thread,
                    qp_line_figures **out, size_t *n);

/* A source file that methods name. */
typedef struct {
    const char *path; /* as registered */
    uint32_t n_methods;
    uint64_t self; /* ticks of its methods */
} qp_model_file;

/** The files, most time first. @param out  [*n] free with qp_free() @return false: no memory */
bool qp_model_files(const qp_model *m, qp_model_file **out, size_t *n);

/* The text of a source file. */
typedef struct {
    char *path; /* where it was found */
    char *text;
    const char **lines; /* [n_lines] line i + 1; ends before the newline, see line_bytes */
    uint32_t *line_bytes;
    uint32_t n_lines;
    uint64_t n_bytes;
    uint64_t digest; /* of the text; see qp_model_digest() */
} qp_source;

enum { QP_SOURCE_PATH_BYTES = 4096 };

/** Find and open a source file: as registered, else below each folder of source_path (":"-separated,
 * may be NULL) with the whole path and then with ever fewer leading folders.
 * @param path  receives where it was found
 * @param why   why not, static text
 * @return a descriptor; -1: see why */
int qp_source_open(const char *file, const char *source_path, char path[QP_SOURCE_PATH_BYTES],
                   const char **why);

/** The same, and read it.
 * @param error  why not, one line: not found, not a plain file, too large
 * @return false: see error */
bool qp_source_read(const char *file, const char *source_path, qp_source *out,
                    char error[QP_ERROR_BYTES]);
void qp_source_fini(qp_source *s);

/** The digest of a source file's text when its code was loaded.
 * @param file  as in qp_model_method.file
 * @return 0: the host did not give the text, or the file has several */
uint64_t qp_model_digest(const qp_model *m, const char *file);

#endif
