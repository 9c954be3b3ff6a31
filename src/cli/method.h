/* method.h: the function that a user names. */
#ifndef QP_CLI_METHOD_H
#define QP_CLI_METHOD_H

#include "cli/cli.h"

/* By display name, bare name, a part that fits one only, or "file:line" (any line of it).
 * @return false: none or several, a message was printed */
bool qp_method_find(const qp_cli *cli, const qp_model *m, const char *name, uint32_t *method);

/* First and last line of its line table. @return false: it has none */
bool qp_method_range(const qp_model_method *method, uint32_t *first, uint32_t *last);

/* The function with most self time, or most calls, of those that have lines; 0: none was called. */
uint32_t qp_method_hottest(const qp_model *m);

/* Its name and place, a line. */
void qp_method_title(const qp_screen *s, const qp_model *m, uint32_t method);

#endif
