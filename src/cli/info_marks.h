/* info_marks.h: the part of `qprof info` that says what fired, and when. */
#ifndef QP_CLI_INFO_MARKS_H
#define QP_CLI_INFO_MARKS_H

#include "base/json.h"
#include "base/screen.h"
#include "model/model.h"

/* Tables of the first marks and of the host's events; nothing where there are none.
 * @return false: no memory */
bool qp_info_marks_text(const qp_screen *s, const qp_model *m);

/* "marks" and "events", all of them. */
void qp_info_marks_json(qp_json *json, const qp_model *m);

#endif
