/* stacks.c: see stacks.h. */
#include "unit/stacks.h"

#include <stdio.h>
#include <string.h>

qp_cell stacks_method(stacks *v, const char *word, int n_bytes)
{
    char module[STACKS_NAME_BYTES] = "", procedure[STACKS_NAME_BYTES] = "native";
    for (int i = 0; i < v->n; i++)
        if (strncmp(v->words[i], word, (size_t)n_bytes) == 0 && !v->words[i][n_bytes])
            return v->cells[i];
    bool is_foreign = word[0] == '?';
    snprintf(v->words[v->n], STACKS_NAME_BYTES, "%.*s", n_bytes, word);
    if (!is_foreign)
        sscanf(v->words[v->n], "%63[^.].%63s", module, procedure);
    qp_cell cell =
        profile_method(v->p, (uint64_t)v->n + 1, procedure, *module ? module : NULL, NULL);
    ((qp_method *)profile_at(v->p, cell))->flags |= is_foreign ? QP_METHOD_PSEUDO : 0;
    v->cells[v->n++] = cell;
    return cell;
}

qp_model *stacks_recursive_run(void)
{
    stacks v = {.p = profile_new()};
    static const char *const words[] = {"m.a", "m.b", "m.a", "x.c"};
    qp_cell th = profile_thread(v.p);
    qp_cell node = ((qp_thread_record *)profile_at(v.p, th))->root;
    profile_more(v.p, th, node)->samples = 16;
    for (int i = 0; i < 4; i++) {
        node = profile_node(v.p, th, node, stacks_method(&v, words[i], 3), 1, 10);
        profile_more(v.p, th, node)->samples = 1u << i;
    }
    profile_head(v.p)->pc_period = 1000000;
    profile_head(v.p)->n_critical = 32;
    qp_model *m = profile_load(v.p, QP_LOAD_CLEAN);
    profile_free(v.p);
    return m;
}

void stacks_apply(qp_attributions *c, const qp_model *m, const char *pattern)
{
    qp_error error;
    qp_attribution_status status = qp_attributions_init(c, m, pattern, false, &error);
    if (status != QP_ATTRIBUTION_OK)
        fail_msg("%s: %u: %s", pattern, error.column, error.text);
}

uint64_t stacks_shallow(const qp_attribution_row *rows, size_t n, const char *module,
                        const char *procedure, uint64_t *deep)
{
    *deep = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].module, module) == 0 && strcmp(rows[i].procedure, procedure) == 0) {
            *deep = rows[i].deep;
            return rows[i].shallow;
        }
    return 0;
}
