/* watch_show.c: event triggers shown, as exported. */
#include <stdio.h>

#include "api/door.h"
#include "config/show.h"
#include "record/watch_parts.h"

static int refuse(int code, const char *why)
{
    return qp_door_refuse(code, why);
}

static int look(qprof_TrgID t)
{
    if (qp_state() != QP_STATE_RUNNING)
        return refuse(QPROF_E_STATE, "event triggers: not running");
    return qp_trg_is(t) ? 0 : refuse(QPROF_E_NOTFOUND, "no such event trigger");
}

int qprof_trg_get(qprof_TrgID t, qprof_TrgInfo *info)
{
    int code = look(t);
    if (code)
        return code;
    if (!info)
        return refuse(QPROF_E_ARG, "qprof_trg_get: the structure is NULL");
    qp_name_kind kind;
    uint32_t next = qp_observe(&t->next);
    uint64_t id = qp_load(&t->object_id);
    *info = (qprof_TrgInfo){.number = t->number,
                            .next = next ? qp_trg_at(next) : NULL,
                            .name = qp_watch_text(qp_observe(&t->name)),
                            .event = t->event,
                            .status = qp_load(&t->slot) != 0,
                            .initialStatus = t->is_initially_enabled,
                            .disable = t->is_one_shot,
                            .contextType = t->context,
                            .contextId = t->context_id,
                            .objId = id,
                            .objName = id ? "" : qp_watched_text(qp_observe(&t->object), &kind),
                            .chain = qp_trg_chain(t),
                            .conditional = t->is_conditional,
                            .condType = t->when_kind,
                            .condOp = t->when_operator,
                            .condEx2 = t->when_value,
                            .condEx1 = t->when_address,
                            .actionType = t->action,
                            .actionDef = t->is_deferred,
                            .actionFunc = t->function,
                            .actionArg = t->argument,
                            .hits = qp_load(&t->n_hits),
                            .longer = qp_load(&t->longer_ns),
                            .depth = qp_load(&t->depth),
                            .used = qp_load(&t->used),
                            .rate = qp_load(&t->most_a_second)};
    return 0;
}

static const char *symbol_text(uint32_t cell)
{
    return cell ? qp_pool_text_at(&qp_watch.symbols, qp_symbol_at(cell)->name) : NULL;
}

static void describe(const qp_trg *t, qp_shown *s)
{
    const qp_trg *chain = qp_trg_chain(t);
    qp_name_kind kind = QP_NAME_LITERAL;
    const char *object = t->object && !t->object_id ? qp_watched_text(t->object, &kind) : NULL;
    *s = (qp_shown){.said = {.name = qp_watch_text(qp_observe(&t->name)),
                             .event = t->event,
                             .is_enabled = qp_load(&t->slot) != 0,
                             .is_one_shot = t->is_one_shot,
                             .is_deferred = t->is_deferred,
                             .context = (qp_config_context)t->context,
                             .context_id = t->context_id,
                             .object_kind = object         ? QP_OBJECT_NAME
                                            : t->object_id ? QP_OBJECT_NUMBER
                                                           : QP_OBJECT_ANY,
                             .object = t->object_id,
                             .object_name = object,
                             .object_name_kind = kind,
                             .when_kind = (qp_config_when_kind)t->when_kind,
                             .when_operator = (qp_config_operator)t->when_operator,
                             .when_value = t->when_value,
                             .action = (qp_config_do)t->action,
                             .action_argument = t->argument,
                             .longer_ns = t->longer_ns,
                             .depth = t->depth,
                             .used = t->used,
                             .most_a_second = t->most_a_second},
                    .number = t->number,
                    .chain_number = chain ? chain->number : 0,
                    .is_initially_enabled = t->is_initially_enabled,
                    .n_hits = qp_load(&t->n_hits)};
    if (t->is_conditional)
        s->said.when_name = t->when_symbol ? symbol_text(t->when_symbol) : "condition";
    s->said.action_name =
        t->action_symbol ? symbol_text(t->action_symbol) : qp_watch_library_name(t->function);
}

static void print(FILE *file, const char *line)
{
    fprintf(file, "%s\n", line);
}

static void show_one(FILE *file, const qp_trg *t, bool has_members)
{
    char line[QP_SHOWN_BYTES];
    qp_shown s;
    describe(t, &s);
    if (!has_members) {
        qp_show_line(&s, line);
        print(file, line);
    }
    for (unsigned i = 0; has_members && qp_show_member(&s, i, line); i++)
        print(file, line);
}

int qprof_trg_show_to(FILE *file, qprof_TrgID id, int options)
{
    char line[QP_SHOWN_BYTES];
    int code = id ? look(id) : qprof_trg_init();
    if (code)
        return code;
    if (!file)
        return refuse(QPROF_E_ARG, "qprof_trg_show_to: no stream");
    int host_errno = errno;
    if (!id || !options) {
        qp_show_head(line);
        print(file, line);
    }
    for (uint32_t cell = qp_observe(&qp_watch.first); cell && !id;
         cell = qp_observe(&qp_trg_at(cell)->next))
        show_one(file, qp_trg_at(cell), false);
    if (id)
        show_one(file, id, options != 0);
    qp_show_foot(qprof_trg_enabled_count(), QPROF_TRG_MAX_ENABLED, qprof_trg_is_on(),
                 qprof_trg_dropped(), line);
    print(file, line);
    errno = host_errno;
    return 0;
}

int qprof_trg_show(qprof_TrgID id, int options)
{
    return qprof_trg_show_to(stdout, id, options);
}
