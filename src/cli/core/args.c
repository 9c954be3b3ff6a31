/* args.c: the parser of command lines, driven by a command's table of flags. */
#include "cli/core/cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 32 };

const qp_flag qp_flags_common[] = {QP_FLAGS_COMMON};

int qp_args_word(const char *words, const char *text)
{
    size_t n = strlen(text);
    int which = 0;
    for (const char *at = words; at; which++) {
        const char *end = strchr(at, '|');
        size_t word = end ? (size_t)(end - at) : strlen(at);
        if (word == n && memcmp(at, text, n) == 0)
            return which;
        at = end ? end + 1 : NULL;
    }
    return -1;
}

/* Letters to insert, remove, replace or swap with a neighbour to get from a to b. */
static unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][WORD_BYTES + 1];
    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned *now = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[n_a % 3][n_b];
}

/* The word of `words` nearest to text, if it is near enough to be meant.
 * @return bytes of it, *found points into words; 0: none */
static size_t find_nearest(const char *words, const char *text, size_t n_text,
                           const char **found)
{
    size_t n_found = 0;
    unsigned best = 3;
    for (const char *at = words; at && n_text <= WORD_BYTES;) {
        const char *end = strchr(at, '|');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        unsigned distance = n && n <= WORD_BYTES ? edit_distance(text, n_text, at, n) : best;
        if (n > n_text && n_text >= 3 && memcmp(at, text, n_text) == 0)
            distance = 1; /* the beginning of the word was meant for it */
        if (distance == 2 && *at != *text)
            distance = best; /* two slips, one of them in the first letter: another word */
        if (distance < best && distance < n) {
            best = distance;
            *found = at;
            n_found = n;
        }
        at = end ? end + 1 : NULL;
    }
    return n_found;
}

void qp_args_add_word(char words[QP_WORDS_BYTES], const char *word)
{
    size_t n = strlen(words);
    snprintf(words + n, QP_WORDS_BYTES - n, "%s%s", n ? "|" : "", word);
}

char *qp_args_hint(char to[QP_HINT_BYTES], const char *words, const char *text, size_t n,
                   const char *before, const char *otherwise)
{
    const char *found;
    size_t n_found = find_nearest(words, text, n, &found);
    if (n_found)
        snprintf(to, QP_HINT_BYTES, " (similar: %s%.*s)", before, (int)n_found, found);
    else if (otherwise)
        snprintf(to, QP_HINT_BYTES, " (%s)", otherwise);
    else
        *to = '\0';
    return to;
}

const qp_flag *qp_flag_named(const qp_command *command, const char *name, size_t n)
{
    for (const qp_flag *f = command->flags; f->name; f++)
        if (strlen(f->name) == n && memcmp(f->name, name, n) == 0)
            return f;
    return NULL;
}

static bool is_list(const qp_flag *flag)
{
    return flag->kind == QP_FLAG_LIST || flag->kind == QP_FLAG_NAMES ||
           flag->kind == QP_FLAG_FILES || flag->kind == QP_FLAG_LIMITS;
}

/* Add the values of a flag, which are cut apart where they stand. @return false: too many */
static bool add_to_list(const qp_flag *flag, char *text, qp_args *args)
{
    qp_list *list = (qp_list *)(void *)((char *)args + flag->at);
    for (char *rest = text; rest;) {
        char *item = strsep(&rest, flag->kind == QP_FLAG_LIST ? ":" : "");
        const bool is_item = *item || flag->kind == QP_FLAG_LIMITS;
        if (is_item && list->n == QP_LIST_MOST)
            return false;
        if (is_item)
            list->items[list->n++] = item;
    }
    return true;
}

/* Of two limits one would be dropped, and what is above it would pass; of two targets one would get nothing. */
static bool is_second(const qp_flag *flag, const qp_args *args)
{
    static const char limits[] = "fail-";
    const void *place = (const char *)args + flag->at;
    if (flag->kind == QP_FLAG_TEXT)
        return strcmp(flag->value, "TARGET") == 0 && *(const char *const *)place;
    bool is_number = flag->kind == QP_FLAG_REAL || flag->kind == QP_FLAG_PERCENT;
    return is_number && strncmp(flag->name, limits, sizeof limits - 1) == 0 &&
           *(const double *)place >= 0;
}

/* Store the value of a flag. @return false: not valid for the flag */
static bool store(const qp_flag *flag, const char *text, qp_args *args)
{
    void *place = (char *)args + flag->at;
    char *end = NULL;
    int word;
    errno = 0;
    switch (flag->kind) {
    case QP_FLAG_YES:
        *(bool *)place = true;
        return true;
    case QP_FLAG_LIST: /* see add_to_list */
    case QP_FLAG_NAMES:
    case QP_FLAG_FILES:
    case QP_FLAG_LIMITS:
        return false;
    case QP_FLAG_TEXT:
        *(const char **)place = text;
        return true;
    case QP_FLAG_ONE_OF:
        *(const char **)place = text;
        return qp_args_word(flag->value, text) >= 0;
    case QP_FLAG_COUNT:
        *(uint64_t *)place = strtoull(text, &end, 10);
        return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    case QP_FLAG_REAL:
    case QP_FLAG_PERCENT:
        *(double *)place = strtod(text, &end);
        return end > text && *end == '\0' && isfinite(*(double *)place) &&
               *(double *)place >= 0 && (flag->kind == QP_FLAG_REAL || *(double *)place <= 100);
    case QP_FLAG_WORD:
        word = qp_args_word(flag->value, text);
        *(unsigned *)place = (unsigned)word;
        return word >= 0;
    }
    return false;
}

static void refuse_unknown(const qp_command *command, const char *hyphens, const char *name,
                           size_t n, qp_error *error)
{
    char words[QP_WORDS_BYTES] = "", hint[QP_HINT_BYTES], otherwise[64];
    for (const qp_flag *f = command->flags; f->name; f++)
        qp_args_add_word(words, f->name);
    snprintf(otherwise, sizeof otherwise, "see qprof %s --help", command->name);
    qp_error_fail(error, "unknown option %s%.*s%s", hyphens,
                  (int)(n < WORD_BYTES ? n : WORD_BYTES), name,
                  qp_args_hint(hint, words, name, n, "--", otherwise));
}

/* @return the flag of a word, "--name", "--name=value", "-n" or "-nvalue"; NULL: see error
 * @param value  gets the value in the word; NULL: the word has none */
static const qp_flag *find_flag(const qp_command *command, char *word, char **value,
                                qp_error *error)
{
    const qp_flag *flag = NULL;
    char *name = word[1] == '-' ? word + 2 : word + 1;
    size_t n = strlen(name);
    if (word[1] == '-') {
        char *equals = strchr(name, '=');
        n = equals ? (size_t)(equals - name) : n;
        *value = equals ? equals + 1 : NULL;
        flag = qp_flag_named(command, name, n);
    } else {
        for (const qp_flag *f = command->flags; f->name; f++)
            if (f->letter && f->letter == word[1])
                flag = f;
        *value = word[2] ? word + 2 : NULL;
        if (flag && flag->kind == QP_FLAG_YES && *value)
            flag = NULL; /* two letters in one word */
    }
    if (!flag)
        refuse_unknown(command, word[1] == '-' ? "--" : "-", name, n, error);
    return flag;
}

/* One flag, with its value in the same word or in the next. @return words taken; 0: see error */
static int parse_flag(const qp_command *command, int n_left, char **argv, qp_args *args,
                      qp_error *error)
{
    char *value;
    const qp_flag *flag = find_flag(command, argv[0], &value, error);
    if (!flag)
        return 0;
    if (flag->kind == QP_FLAG_YES && value) {
        qp_error_fail(error, "--%s takes no value", flag->name);
        return 0;
    }
    int taken = flag->kind == QP_FLAG_YES || value ? 1 : 2;
    bool is_next_a_flag =
        flag->kind == QP_FLAG_FILES && taken == 2 && n_left > 1 && argv[1][0] == '-';
    if (taken > n_left || is_next_a_flag) {
        qp_error_fail(error, "--%s needs a value: --%s=%s", flag->name, flag->name,
                      flag->value);
        return 0;
    }
    value = taken == 2 ? argv[1] : value;
    if (is_second(flag, args)) {
        qp_error_fail(error, "--%s is given twice", flag->name);
        return 0;
    }
    bool is_good = is_list(flag) ? add_to_list(flag, value, args) : store(flag, value, args);
    while (is_good && flag->kind == QP_FLAG_FILES && taken < n_left && argv[taken][0] != '-')
        is_good = add_to_list(flag, argv[taken++], args);
    if (is_good)
        return taken;
    qp_error_fail(error, "--%s=%.60s: expected %s", flag->name, value,
                  flag->kind == QP_FLAG_WORD || flag->kind == QP_FLAG_ONE_OF ? flag->value
                  : is_list(flag)                 ? "64 of them at most"
                  : flag->kind == QP_FLAG_PERCENT ? "a number from 0 to 100"
                  : flag->kind == QP_FLAG_REAL    ? "a number, 0 or more"
                                                  : "a whole number, 0 or more");
    return 0;
}

/* Is it a flag of the command, and not an option of the recorder? */
static bool is_ours(const qp_command *command, const char *word)
{
    if (word[1] != '-')
        return word[2] == '\0';
    return qp_flag_named(command, word + 2, strcspn(word + 2, "=")) != NULL;
}

bool qp_args_parse(const qp_command *command, int argc, char **argv, qp_args *args,
                   qp_error *error)
{
    *args = (qp_args){.operands = argv,
                      .limit = UINT64_MAX,
                      .suffixes = UINT64_MAX,
                      .percent = UINT_MAX,
                      .kept.shown = UINT64_MAX};
    args->cover.partial = UINT_MAX;
    args->cover.lines_under = args->cover.branches_under = args->cover.functions_under = -1;
    args->diff.slower = -1;
    for (const qp_flag *f = command->flags; f->name; f++)
        if (f->initial)
            store(f, f->initial, args);
    bool has_flags = true;
    for (int i = 0; i < argc;) {
        bool ends_flags = has_flags && strcmp(argv[i], "--") == 0;
        bool is_flag = has_flags && argv[i][0] == '-' && argv[i][1] && !ends_flags;
        if (command->takes_rest && !is_flag) {
            args->rest = argv + i + ends_flags;
            args->n_rest = argc - i - ends_flags;
            return true;
        }
        if (ends_flags) {
            has_flags = false;
            i++;
            continue;
        }
        int taken = 1;
        if (!is_flag || (command->takes_rest && !is_ours(command, argv[i])))
            args->operands[args->n_operands++] = argv[i];
        else if (!(taken = parse_flag(command, argc - i, argv + i, args, error)))
            return false;
        i += taken;
    }
    return true;
}

bool qp_args_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                 {"ns", 1}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
    const double limit = 1e18; /* 31 years: no run takes longer */
    char *end;
    const double value = strtod(text, &end);
    /* strtod() also takes 0x10 and 1e3 */
    if (*text < '0' || *text > '9' || (size_t)(end - text) > strspn(text, "0123456789."))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && value * units[i].ns < limit) {
            *ns = (uint64_t)llround(value * units[i].ns);
            return true;
        }
    return false;
}
