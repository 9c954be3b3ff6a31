/* picture.h: finished pictures of coverage made by hand, without a recorder or a reader.
 *
 * Files are named in the order of their paths, functions by first line, blocks and branches by
 * line. Totals are summed up in the simplest way, at the end. */
#ifndef QP_TESTS_EXPORT_PICTURE_H
#define QP_TESTS_EXPORT_PICTURE_H

#include "model/cover/cover.h"

typedef struct picture picture;

picture *picture_new(void);
void picture_free(picture *p);

uint32_t picture_context(picture *p, const char *name);
void picture_file(picture *p, const char *path);
/* In the file named last, as all that follows. @return its index */
uint32_t picture_function(picture *p, const char *name, uint64_t calls);
void picture_block(picture *p, uint32_t line, uint32_t function, uint64_t count);
/* A conditional jump with two ways on a line. @param is_reached  false: both are 0 */
void picture_jump(picture *p, uint32_t line, uint32_t block, uint32_t function, bool is_reached,
                  uint64_t jumped, uint64_t went_on);
/* After its blocks and jumps. */
void picture_mark(picture *p, uint32_t line, qp_annotation mark);
void picture_touch(picture *p, uint32_t line, uint32_t context, uint64_t count);

/* Sum up. @return borrowed from p */
const qp_cover *picture_done(picture *p);

/* Two files with everything: see picture.c for their text. */
const qp_cover *picture_small(picture *p);
/* Names of all kinds that hurt: one function, line and file for each. */
const qp_cover *picture_hostile(picture *p);
/* 300 files in 30 folders with random figures, always the same. */
const qp_cover *picture_large(picture *p);

/* By name: empty, small, hostile, large. @return NULL: none of them */
const qp_cover *picture_named(picture *p, const char *name);

#endif
