/* metrics.c: the metrics that the host defined. They stay for the runs that follow. */
#include <stdio.h>
#include <string.h>

#include "record/run/run.h"

/* Under the control lock, as all here. */
static struct {
    char name[64], unit[16];
} known[QP_METRICS];
static int n_known;

int qp_metrics_create(const char *name, const char *unit)
{
    char cut[sizeof known[0].name];
    int i = 0;
    snprintf(cut, sizeof cut, "%s", name);
    while (i < n_known && strcmp(known[i].name, cut) != 0)
        i++;
    if (i == QP_METRICS)
        return 0;
    if (i == n_known) {
        memcpy(known[i].name, cut, sizeof cut);
        snprintf(known[i].unit, sizeof known[i].unit, "%s", unit ? unit : "");
        n_known++;
    }
    return i + 1;
}

void qp_metrics_store(void)
{
    qp_space *s = &qp_recorder.space;
    qp_texts *t = &qp_recorder.texts;
    qp_ref newest = s->head->metrics;
    const qp_metric *m = newest ? qp_at_ref(s, newest) : NULL;
    for (uint32_t i = m ? m->number : 0; i < (uint32_t)n_known; i++) {
        const qp_metric next = {newest, qp_texts_add(t, known[i].name),
                                qp_texts_add(t, known[i].unit), i + 1};
        newest = qp_blob_take(s, &t->blobs, sizeof next);
        if (!newest)
            return; /* readers name it by its number */
        *(qp_metric *)qp_at_ref(s, newest) = next;
        qp_publish(&s->head->metrics, newest);
    }
}
