/* pyroscope.c: the request push.v1.PusherService/Push of Pyroscope: labels, and a profile of pprof. */
#include <stdio.h>

#include "base/containers/alloc.h"
#include "export/shared/gzip.h"
#include "export/shared/profile.h"
#include "export/shared/protobuf.h"

enum { PUSH_SERIES = 1, SERIES_LABEL = 1, SERIES_SAMPLE = 2, PAIR_NAME = 1, PAIR_VALUE = 2 };
enum { SAMPLE_PROFILE = 1, SAMPLE_ID = 2 };
enum { LABELS_MOST = 30 }; /* of a series */

static void write_pair(qp_proto *to, const char *name, const char *value)
{
    qp_proto_begin(to, SERIES_LABEL);
    qp_proto_text(to, PAIR_NAME, name);
    qp_proto_text(to, PAIR_VALUE, value);
    qp_proto_end(to);
}

/* Names of labels are of letters, digits and '_', and those with "__" in front belong to the server.
 * @return false: it cannot be one */
static bool make_name(char *name)
{
    for (char *at = name; *at; at++) {
        const bool is_digit = *at >= '0' && *at <= '9' && at > name;
        const bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        *at = (char)(is_digit || is_letter ? *at : '_');
    }
    return *name && strncmp(name, "__", 2) != 0;
}

/* What Pyroscope shows as the kind of a profile. */
static const char *kind_of(const qp_model *m)
{
    const char *time = qp_export_measure_name(m, QP_MEASURE_TIME);
    return !m->run.has_times           ? "calls"
           : strcmp(time, "cpu") == 0  ? "process_cpu"
           : strcmp(time, "wall") == 0 ? "wall"
                                       : "counter";
}

/* @return false: no memory */
static bool write_labels(const qp_model *m, qp_proto *to)
{
    qp_export_label *label = qp_alloc(1, sizeof *label);
    char names[LABELS_MOST][sizeof label->name];
    size_t at = 0, n = 2;
    if (!label)
        return false;
    write_pair(to, "__name__", kind_of(m));
    snprintf(names[0], sizeof names[0], "service_name");
    snprintf(names[1], sizeof names[1], "service");
    while (n < LABELS_MOST - 1 && qp_export_label_next(&m->run, &at, label)) {
        bool is_new = strcmp(label->name, "service") != 0 && make_name(label->name);
        if (strcmp(label->name, "service") == 0)
            write_pair(to, names[0], label->value);
        for (size_t i = 0; i < n; i++)
            is_new = is_new && strcmp(names[i], label->name) != 0;
        if (!is_new)
            continue;
        snprintf(names[n++], sizeof names[0], "%s", label->name);
        write_pair(to, label->name, label->value);
    }
    qp_free(label);
    return true;
}

/* An id as people write those of 16 bytes. */
static void write_id(qp_proto *to, const unsigned char id[QP_EXPORT_ID_BYTES])
{
    char text[2 * QP_EXPORT_ID_BYTES + 5] = "";
    size_t n = 0;
    for (size_t i = 0; i < QP_EXPORT_ID_BYTES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
    qp_proto_text(to, SAMPLE_ID, text);
}

static bool write_request(const qp_model *m, const unsigned char id[QP_EXPORT_ID_BYTES],
                          const qp_buf *profile, qp_buf *to)
{
    qp_proto p;
    qp_buf packed = QP_BUF(unsigned char);
    qp_proto_init(&p);
    bool is_good = qp_gzip_pack(profile->items, profile->n, &packed);
    qp_proto_begin(&p, PUSH_SERIES);
    is_good = is_good && write_labels(m, &p);
    qp_proto_begin(&p, SERIES_SAMPLE);
    qp_proto_bytes(&p, SAMPLE_PROFILE, packed.items, packed.n);
    write_id(&p, id);
    qp_proto_end_all(&p);
    qp_free(packed.items);
    is_good = is_good && !p.bytes.failed;
    if (is_good) {
        qp_free(to->items);
        *to = p.bytes;
    } else {
        qp_proto_fini(&p);
    }
    return is_good;
}

bool qp_export_pyroscope(const qp_model *m, const unsigned char id[QP_EXPORT_ID_BYTES],
                         qp_export_limits *limits, qp_buf *to, qp_error *error)
{
    qp_buf profile = QP_BUF(unsigned char);
    bool is_good = qp_export_pprof_within(m, limits, &profile);
    while (is_good && profile.n > limits->n_bytes && limits->n_samples > 1) {
        limits->n_samples /= 2;
        profile.n = 0;
        is_good = qp_export_pprof_within(m, limits, &profile);
    }
    const bool fits = profile.n <= limits->n_bytes;
    is_good = is_good && fits && write_request(m, id, &profile, to);
    qp_free(profile.items);
    return is_good ||
           qp_error_fail(error,
                         fits ? "out of memory"
                              : "cannot be cut to what the server takes: names are too long");
}
