/* names.c: what the run is called: script, arguments, version of the host, labels. Read qp_names_begin
 * first.
 *
 * The host may name them before a run, and again while it lasts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/file.h"
#include "base/os/system.h"
#include "record/run/run.h"

enum { COMMAND_BYTES = 8192, LABELS_BYTES = 1024 };

static struct {
    bool is_set; /* by the host */
    char script[1024], host[128], arguments[COMMAND_BYTES];
    char host_labels[LABELS_BYTES]; /* as the host named them */
    char labels[LABELS_BYTES];      /* in force: NAME=VALUE,NAME=VALUE */
    unsigned n_left_out;            /* of them */
} names;

/* ---- arguments --------------------------------------------------------------------------- */

/* Append a word as a shell reads it. @return false: it does not fit; "..." takes its place */
static bool add_word(char *to, size_t room, const char *word)
{
    enum { SPARE = 16 }; /* quotes, one character and "..." */
    size_t start = strlen(to), n = start;
    bool is_plain = word[0] && !word[strcspn(word, " \t\r\n\"'`$&|;<>()*?[]{}\\!~#")];
    if (n)
        to[n++] = ' ';
    if (!is_plain)
        to[n++] = '\'';
    for (; *word && n + SPARE < room; word++) {
        if (*word == '\'') {
            memcpy(to + n, "'\\'", 3);
            n += 3;
        }
        to[n++] = *word;
    }
    if (!is_plain)
        to[n++] = '\'';
    to[n] = '\0';
    bool fits = !*word && n + SPARE < room;
    if (!fits)
        strcpy(to + start, start ? " ..." : "...");
    return fits;
}

/* The process's own, where the host names none. */
static void read_command(void)
{
    char all[COMMAND_BYTES];
    size_t n = qp_file_text("/proc/self/cmdline", all, sizeof all);
    names.arguments[0] = '\0';
    for (size_t at = strlen(all) + 1; at < n; at += strlen(all + at) + 1)
        if (!add_word(names.arguments, sizeof names.arguments, all + at))
            break;
}

/* ---- labels ------------------------------------------------------------------------------ */

static void drop_label(char *at)
{
    char *end = at + strcspn(at, ",");
    if (*end)
        memmove(at, end + 1, strlen(end));
    else
        at[-(at > names.labels)] = '\0';
}

/* A later label replaces an earlier one of its name. */
static void put_label(const char *label, size_t n)
{
    while (n && *label == ' ')
        label++, n--;
    while (n && label[n - 1] == ' ')
        n--;
    const char *equals = memchr(label, '=', n);
    if (!n)
        return;
    if (!equals || equals == label) {
        names.n_left_out++;
        return;
    }
    const char *known = qp_name_label(names.labels, label, (size_t)(equals - label));
    if (known)
        drop_label(names.labels + (known - names.labels));
    size_t used = strlen(names.labels);
    if (used + n + 2 > sizeof names.labels) {
        names.n_left_out++;
        return;
    }
    if (used)
        names.labels[used++] = ',';
    for (size_t i = 0; i < n; i++)
        names.labels[used++] =
            (unsigned char)label[i] < ' ' || label[i] == 0x7F ? '_' : label[i];
    names.labels[used] = '\0';
}

static void put_labels(const char *text)
{
    for (size_t n; text && *text; text += n + (text[n] == ','))
        put_label(text, n = strcspn(text, ","));
}

static void choose_labels(void)
{
    names.labels[0] = '\0';
    names.n_left_out = 0;
    put_labels(qp_system_is_privileged() ? NULL : getenv("QPROF_LABELS"));
    put_labels(qp_option_text(&qp_recorder.options, QP_OPT_labels));
    put_labels(names.host_labels);
}

/* ---- the run ----------------------------------------------------------------------------- */

uint64_t qp_names_run_at(uint64_t now)
{
    static uint64_t run_at; /* stays in forked processes */
    const char *told = qp_system_is_privileged() ? NULL : getenv("QPROF_RUN");
    uint64_t at = told ? strtoull(told, NULL, 10) : 0;
    if (!run_at)
        run_at = at && at < now ? at : now;
    return run_at;
}

void qp_names_set(const char *script, int n, const char *const *arguments, const char *host)
{
    names.is_set = true;
    snprintf(names.script, sizeof names.script, "%s", script ? script : "");
    snprintf(names.host, sizeof names.host, "%s", host ? host : "");
    names.arguments[0] = '\0';
    for (int i = 0; i < n && arguments[i]; i++)
        if (!add_word(names.arguments, sizeof names.arguments, arguments[i]))
            break;
}

void qp_names_set_labels(const char *labels)
{
    snprintf(names.host_labels, sizeof names.host_labels, "%s", labels ? labels : "");
}

void qp_names_begin(void)
{
    if (!names.is_set && qp_recorder.options.number[QP_OPT_record_arguments])
        read_command();
    choose_labels();
}

void qp_names_facts(qp_name_facts *facts)
{
    facts->script = names.script;
    facts->host = names.host;
    facts->labels = names.labels;
}

void qp_names_store(void)
{
    qp_head *h = qp_recorder_head();
    qp_texts *t = &qp_recorder.texts;
    bool has_arguments = qp_recorder.options.number[QP_OPT_record_arguments];
    qp_publish(&h->script, qp_texts_add(t, names.script));
    qp_publish(&h->arguments, qp_texts_add(t, has_arguments ? names.arguments : ""));
    qp_publish(&h->folder, qp_texts_add(t, qp_recorder.folder));
    qp_publish(&h->host_version, qp_texts_add(t, names.host));
    qp_publish(&h->labels, qp_texts_add(t, names.labels));
    if (names.n_left_out)
        qp_recorder_log("labels: %u left out: no NAME=VALUE, or more than %d bytes",
                        names.n_left_out, LABELS_BYTES - 1);
}
