/* mapping.h: one growing piece of memory that never moves, backed by a file if possible; and memory
 * for one call.
 *
 * The whole budget is reserved as address space at once; the file grows below it. Neither takes
 * memory, also where the system does not promise more memory than it has. Space is allocated in the file before it is used, so that a full disk is a failed growth and never a
 * SIGBUS. Growing takes no lock and may be done by several threads at once. */
#ifndef QP_BASE_OS_MAPPING_H
#define QP_BASE_OS_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *base;             /* NULL: closed */
    size_t reserved_bytes;  /* of address space */
    size_t limit_bytes;     /* the budget */
    uint64_t n_ready_bytes; /* backed and usable; any thread raises it */
    int fd;                 /* -1: anonymous */
    uint64_t device, inode; /* of the file, to know it again */
    char path[256];         /* of the live file; "" while anonymous */
} qp_mapping;

typedef enum { QP_GROWN, QP_GROW_LIMIT, QP_GROW_FULL, QP_GROW_HIJACKED } qp_growth;

/* Reserve limit_bytes (less, down to 1 MiB, where address space is short) and back it with the
 * new file `path`, mode 0600, which must not exist; path NULL: anonymous memory.
 * @return 0 or an errno value; then nothing is left */
int qp_mapping_open(qp_mapping *m, const char *path, size_t limit_bytes);

/* Before a fork: let the child have the memory, so that no other memory takes its addresses; or no
 * longer. The child must replace or unmap it. */
void qp_mapping_pass_on(const qp_mapping *m, bool is_inherited);

/* In a forked child: as qp_mapping_open(), in place of the parent's memory that was passed on. The first n_bytes are written by qp_mapping_put() alone: what is not remains a hole, which
 * must not be touched. */
int qp_mapping_open_like(qp_mapping *m, const char *path, const qp_mapping *parent,
                         uint64_t n_bytes);
/* @return false: no space */
bool qp_mapping_put(const qp_mapping *m, uint64_t at, const void *bytes, size_t n_bytes);

/* The next part of the first n_bytes from `at` on that is no hole. @return false: there is none */
bool qp_mapping_next_data(qp_mapping *m, uint64_t at, uint64_t n_bytes, uint64_t *begin,
                          uint64_t *end);

/* Make the first n_bytes usable. Preserves errno and pending signals. Cost: a system call or
 * two for each MiB, else a load. */
qp_growth qp_mapping_grow(qp_mapping *m, uint64_t n_bytes);

/* How much address space this process may have: of ulimit -v, or of the addresses that exist; without
 * either UINT64_MAX. */
uint64_t qp_mapping_address_space(void);
/* What to reserve of that: as much as is wanted, but a quarter at most, because the rest is the
 * program's; at least 1 MiB. */
uint64_t qp_mapping_share(uint64_t wanted_bytes, uint64_t space_bytes);

/* Close the file, if the descriptor still refers to it; the memory stays, and does not grow. */
void qp_mapping_detach(qp_mapping *m);

/* Give back the address space that was never made ready. After qp_mapping_detach(), when no thread
 * can be growing it. */
void qp_mapping_trim(qp_mapping *m);

/* In a forked child, where the memory is not mapped: close the file, and put empty memory in its
 * place, so that pointers of the host into it stay valid. */
void qp_mapping_forget(qp_mapping *m);

/* Close it, and put empty memory in its place, so that pointers into it stay valid for ever. After
 * qp_mapping_trim(). */
void qp_mapping_empty(qp_mapping *m);

/* Unmap and close. The file stays. */
void qp_mapping_close(qp_mapping *m);

/* Memory from the system, zeroed, because the recorder has no heap. @return NULL: none. Cost: a system
 * call, so not for events */
void *qp_pages_take(size_t n_bytes);
/* @param p  NULL is allowed. @param n_bytes  as taken */
void qp_pages_drop(void *p, size_t n_bytes);

/* Tests: let the n-th growth from now on fail, and all after it if for_ever; n 0: none. */
void qp_mapping_fail_after(unsigned n, bool for_ever);

#endif
