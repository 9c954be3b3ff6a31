/* labels.c: the labels of a run, one by one: see qp_export_label_next() in profile.h. */
#include "export/shared/profile.h"

static const char *const first[] = {"service", "version", "host"};
enum { N_FIRST = sizeof first / sizeof *first };

/* @param to  receives n bytes of a text, cut at a character where it has no room */
static void take(char *to, size_t room, const char *text, size_t n)
{
    n = n < room - 1 ? n : room - 1;
    while (n > 0 && text[n] && (text[n] & 0xC0) == 0x80)
        n--;
    memcpy(to, text, n);
    to[n] = '\0';
}

/* @return the value of a label, which ends at a comma; NULL: none */
static const char *value_of(const char *labels, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = labels; *at; at += *at == ',') {
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at + n + 1;
        at += strcspn(at, ",");
    }
    return NULL;
}

static bool is_first(const char *name, size_t n)
{
    for (size_t i = 0; i < N_FIRST; i++)
        if (strlen(first[i]) == n && memcmp(first[i], name, n) == 0)
            return true;
    return false;
}

static const char *otherwise(const qp_run_info *run, size_t i)
{
    const char *text = i == 0 ? run->program : i == 2 ? run->host : "";
    return i == 0 && !*text ? "unknown" : text;
}

bool qp_export_label_next(const qp_run_info *run, size_t *at, qp_export_label *label)
{
    const char *labels = run->labels;
    for (; *at < N_FIRST;) {
        const size_t i = (*at)++;
        const char *value = value_of(labels, first[i]);
        const size_t n = value ? strcspn(value, ",") : 0;
        take(label->name, sizeof label->name, first[i], strlen(first[i]));
        if (n)
            take(label->value, sizeof label->value, value, n);
        else
            take(label->value, sizeof label->value, otherwise(run, i),
                 strlen(otherwise(run, i)));
        if (*label->value)
            return true;
    }
    while (labels[*at - N_FIRST]) {
        const char *name = labels + *at - N_FIRST;
        const size_t n = strcspn(name, ","), n_name = strcspn(name, "=,");
        *at += n + (name[n] == ',');
        if (!n_name || n_name >= n || is_first(name, n_name))
            continue;
        take(label->name, sizeof label->name, name, n_name);
        take(label->value, sizeof label->value, name + n_name + 1, n - n_name - 1);
        return true;
    }
    return false;
}
