/* match.h: which methods of two profiles are the same, and which have changed in between. */
#ifndef QP_COVER_MATCH_H
#define QP_COVER_MATCH_H

#include "base/text/error.h"
#include "cover/checked.h"

typedef enum {
    QP_MATCH_NONE,   /* the later profile has no such method */
    QP_MATCH_SAME,   /* names and code are the same */
    QP_MATCH_ALIKE,  /* another line table, but as many blocks, and the same jumps */
    QP_MATCH_CHANGED /* other blocks */
} qp_match;

/* Look for a method of the old profile in the later one. @param found  of SAME and ALIKE */
qp_match qp_match_method(const qp_checked *old, uint32_t method, const qp_checked *now,
                         uint32_t *found);

/* Were both collected in the same way, from the same sources? @return false: see why */
bool qp_match_agree(const qp_checked *old, const qp_checked *now, qp_error *error);

/* @return false; why says that this method is another one now */
bool qp_match_say_changed(const qp_checked *old, uint32_t method, qp_error *error);

#endif
