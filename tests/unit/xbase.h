/* xbase.h: traces with rows 1 to n, each different, and reading them again. */
#ifndef QP_TESTS_UNIT_XBASE_H
#define QP_TESTS_UNIT_XBASE_H

#include "unit/files.h"
#include "xbase/xbase.h"

enum { XBASE_ROOM = 1 << 20 };

extern qp_prf trace;
extern qp_prf_reader reader;
extern char bytes[XBASE_ROOM], others[XBASE_ROOM];
/* A table with everything but parameters, symbols of 20 bytes: header 456, record 43. */
extern const qp_prf_options table;

/* The bytes of a file. @return how many; 0: it is not there */
size_t slurp(const char *path, char *to);
void spit(const char *path, const char *from, size_t n);
bool exists(const char *path);

/* A row to the trace that is open. */
bool put(uint32_t thread, uint64_t ms, char op, const char *call, uint32_t line,
         const char *params);
/* Row i of those below. */
bool put_row(unsigned i);
/* A whole trace of rows 1 to n. */
void put_rows(const char *path, const qp_prf_options *o, unsigned n);
/* It holds these, and nothing else. */
void assert_rows(const char *path, unsigned first, unsigned last);

/* The same in packets. */
qp_prf_options in_packets(qp_prf_options o, uint32_t every);

#endif
