/* file.h: reading files of any kind: never blocks, and never maps a file that others may truncate. */
#ifndef QP_BASE_OS_FILE_H
#define QP_BASE_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open a plain file for reading. A pipe, a device or a directory is refused without waiting.
 * @param why  receives what is wrong with it, static text
 * @return a descriptor; -1: see why */
int qp_file_open(const char *path, const char **why);

/* The same of a file beside another one that the user named: a link there is refused. */
int qp_file_open_beside(const char *path, const char **why);

/* The same in two steps: find the file, without opening it, and then open what was found.
 * @return a descriptor that serves only to ask about the file; of it, one for reading; -1: see why */
int qp_file_find(const char *path, const char **why);
int qp_file_open_found(int found, const char *path, const char **why);

/* What an errno value means for opening a file, or for making one. */
const char *qp_file_reason(int error, bool is_new);

/* The same check of an open descriptor. @return false: see why */
bool qp_file_is_plain(int fd, uint64_t *n_bytes, const char **why);

/* Move a descriptor out of the way of hosts that close low ones. @return the new one, or fd */
int qp_file_raise(int fd);

/* Read up to n_bytes from a place.
 * @return bytes read: fewer at the end, or after an error, which qp_file_read_error() tells apart */
size_t qp_file_read_at(int fd, void *to, size_t n_bytes, uint64_t at);

/* Why a call of qp_file_read_at() failed, whichever was last. @return 0: none did; an errno value */
int qp_file_read_error(void);

/* Write n_bytes at a place.
 * @param done  receives the bytes written, also after an error. @return 0 or an errno value */
int qp_file_write_at(int fd, const void *bytes, size_t n_bytes, uint64_t at, size_t *done);

/* Write all of n_bytes. @return false: errno explains */
bool qp_file_write(int fd, const void *bytes, uint64_t n_bytes);

/* The next part of the file from `at` on that is not a hole; where holes are unknown, all of it.
 * @return false: only a hole follows */
bool qp_file_next_data(int fd, uint64_t at, uint64_t n_bytes, uint64_t *begin, uint64_t *end);

/* A new file without a name, for reading and writing, gone with its descriptor.
 * @return a descriptor; -1: see why */
int qp_file_temporary(const char **why);

/* A small file as a text with NUL. @return bytes, without the NUL; 0: none, and to is "" */
size_t qp_file_text(const char *path, char *to, size_t room);

#endif
