/* cover_patch.h: the patch whose lines `qprof cover diff` is about. */
#ifndef QP_CLI_COVER_PATCH_H
#define QP_CLI_COVER_PATCH_H

#include "cli/cover.h"
#include "model/patch.h"

/* What has changed since --git in --repo, or what --patch says.
 * @return NULL: a message was printed. Free with qp_patch_free() */
qp_patch *qp_cover_patch(const qp_cli *cli);

#endif
