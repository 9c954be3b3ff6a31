/* field.c: rows as JSON, CSV and text, and their schema, all from one table of fields. */
#include "base/text/field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

enum { CHOICE_BYTES = 32 };

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_text(const qp_field *f)
{
    return f->kind <= QP_FIELD_WORD;
}

static const char *text_at(const void *at)
{
    const char *text = *(const char *const *)at;
    return text ? text : "";
}

static uint64_t number_at(const void *at, size_t n_bytes)
{
    switch (n_bytes) {
    case 8:
        return *(const uint64_t *)at;
    case 4:
        return *(const uint32_t *)at;
    case 2:
        return *(const uint16_t *)at;
    default:
        return *(const uint8_t *)at;
    }
}

static uint64_t count_at(const qp_field *f, const void *at)
{
    return number_at(at, f->bytes);
}

static const void *pointer_at(const void *at)
{
    const void *to;
    memcpy(&to, at, sizeof to);
    return to;
}

/* The word of a QP_FIELD_CHOICE. @param to [CHOICE_BYTES] @return to */
static const char *choice_at(const qp_field *f, const void *at, char *to)
{
    const char *word = f->words;
    for (unsigned i = *(const unsigned *)at; i > 0; i--)
        word += strcspn(word, "|") + 1;
    snprintf(to, CHOICE_BYTES, "%.*s", (int)strcspn(word, "|"), word);
    return to;
}

static int64_t change_at(const qp_field *f, const void *at)
{
    return f->bytes == 4 ? *(const int32_t *)at : *(const int64_t *)at;
}

static bool is_null(const qp_field *f, const void *at)
{
    if (!(f->flags & QP_FIELD_NULLABLE))
        return false;
    if (f->kind == QP_FIELD_OBJECT)
        return !pointer_at(at);
    char word[CHOICE_BYTES];
    return f->kind == QP_FIELD_CHOICE ? !*choice_at(f, at, word)
           : is_text(f)               ? !*text_at(at)
                                      : count_at(f, at) == QP_FIELD_NONE;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* @param key  [n_key] the one that is wanted; NULL: all
 * @param name  of its column; NULL: the key */
static void add_fields(qp_field_list *list, const qp_field *fields, size_t at, unsigned has,
                       const char *key, size_t n_key, const char *name)
{
    for (const qp_field *f = fields; f->key; f++) {
        if (f->needs & ~has || list->n == QP_FIELDS_MOST)
            continue;
        if (f->kind == QP_FIELD_PART) {
            add_fields(list, f->sub, at + f->at, has, key, n_key, name);
        } else if (!key || (strlen(f->key) == n_key && memcmp(f->key, key, n_key) == 0)) {
            const char *head = name ? name : f->key;
            list->items[list->n].field = f;
            list->items[list->n].at = at + f->at;
            list->items[list->n].name = head;
            list->items[list->n++].n_name = (int)strcspn(head, " ");
        }
    }
}

qp_field_list qp_fields_choose(const qp_field *fields, const char *order, unsigned has)
{
    qp_field_list list = {.n = 0};
    if (!order)
        add_fields(&list, fields, 0, has, NULL, 0, NULL);
    while (order && *(order += strspn(order, " "))) {
        size_t n_key = strcspn(order, " :"), n = strcspn(order, " ");
        add_fields(&list, fields, 0, has, order, n_key, n > n_key ? order + n_key + 1 : NULL);
        order += n;
    }
    return list;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef union {
    max_align_t aligned;
    char bytes[QP_ROW_BYTES];
} row_space;

static bool next_row(const qp_rows *rows, const void *data, size_t *at, row_space *row)
{
    memset(row, 0, rows->bytes);
    return rows->next(data, at, row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_rows(qp_json *json, const char *key, const qp_rows *rows, const void *data)
{
    row_space row;
    qp_json_begin(json, key, '[');
    for (size_t at = 0; next_row(rows, data, &at, &row);)
        qp_row_json(json, NULL, rows->fields, rows->has ? rows->has(data, &row) : QP_FIELDS_ALL,
                    &row);
    qp_json_end(json, ']');
}

/* What is in the open bracket: elements or members. */
static void write_inside(qp_json *json, const qp_field *f, unsigned has, const void *row)
{
    if (f->write) {
        f->write(json, row);
        return;
    }
    const char *item = pointer_at((const char *)row + f->at);
    uint64_t n = number_at((const char *)row + f->n_at, f->n_bytes);
    for (; n > 0; n--, item += f->item_bytes)
        if (f->kind == QP_FIELD_TEXTS)
            qp_json_text(json, NULL, pointer_at(item));
        else
            qp_row_json(json, NULL, f->sub, has, item);
}

static void write_json(qp_json *json, const qp_field *f, unsigned has, const void *row)
{
    const void *at = (const char *)row + f->at;
    char word[CHOICE_BYTES];
    bool is_object = f->kind == QP_FIELD_OBJECT || f->kind == QP_FIELD_COUNTS;
    if (f->rows) {
        write_rows(json, f->key, f->rows, at);
        return;
    }
    if (f->write || f->item_bytes) {
        qp_json_begin(json, f->key, is_object ? '{' : '[');
        write_inside(json, f, has, row);
        qp_json_end(json, is_object ? '}' : ']');
        return;
    }
    if (is_null(f, at)) {
        qp_json_null(json, f->key);
        return;
    }
    switch (f->kind) {
    case QP_FIELD_COUNT:
    case QP_FIELD_TIME:
    case QP_FIELD_SPAN:
        qp_json_count(json, f->key, count_at(f, at));
        return;
    case QP_FIELD_CHANGE:
        qp_json_change(json, f->key, change_at(f, at));
        return;
    case QP_FIELD_PERCENT:
        qp_json_number(json, f->key, *(const double *)at);
        return;
    case QP_FIELD_YES:
        qp_json_bool(json, f->key, *(const bool *)at);
        return;
    case QP_FIELD_MOMENT:
        qp_json_moment(json, f->key, count_at(f, at));
        return;
    case QP_FIELD_CHOICE:
        qp_json_text(json, f->key, choice_at(f, at, word));
        return;
    case QP_FIELD_OBJECT:
        qp_row_json(json, f->key, f->sub, QP_FIELDS_ALL,
                    f->flags & QP_FIELD_NULLABLE ? pointer_at(at) : at);
        return;
    default:
        qp_json_text(json, f->key, text_at(at));
    }
}

void qp_fields_json(qp_json *json, const qp_field *fields, unsigned has, const void *row)
{
    for (const qp_field *f = fields; f->key; f++) {
        if (f->needs & ~has || f->flags & QP_FIELD_NO_JSON)
            continue;
        if (f->kind == QP_FIELD_PART)
            qp_fields_json(json, f->sub, has, (const char *)row + f->at);
        else
            write_json(json, f, has, row);
    }
}

void qp_row_json(qp_json *json, const char *key, const qp_field *fields, unsigned has,
                 const void *row)
{
    qp_json_begin(json, key, '{');
    qp_fields_json(json, fields, has, row);
    qp_json_end(json, '}');
}

void qp_document_json(qp_out *out, const qp_field *fields, const void *row)
{
    qp_json json;
    qp_json_init(&json, out);
    qp_row_json(&json, NULL, fields, QP_FIELDS_ALL, row);
}

/* ---- the schema ------------------------------------------------------------------------------ */

static void write_object(qp_out *out, const qp_field *fields, unsigned depth);

/* "string", "integer", … with "null" where it may be. */
static void write_type(qp_out *out, const qp_field *f)
{
    static const char *const types[] = {
        [QP_FIELD_COUNT] = "integer",  [QP_FIELD_CHANGE] = "integer",
        [QP_FIELD_TIME] = "integer",   [QP_FIELD_SPAN] = "integer",
        [QP_FIELD_PERCENT] = "number", [QP_FIELD_YES] = "boolean",
        [QP_FIELD_OBJECT] = "object",  [QP_FIELD_ROWS] = "array",
        [QP_FIELD_TEXTS] = "array",    [QP_FIELD_COUNTS] = "object"};
    const char *type = types[f->kind] ? types[f->kind] : "string";
    if (f->kind == QP_FIELD_PERCENT)
        qp_out_text(out, "\"type\": [\"integer\", \"number\"]");
    else if (f->flags & QP_FIELD_NULLABLE || f->kind == QP_FIELD_MOMENT)
        qp_out_format(out, "\"type\": [\"%s\", \"null\"]", type);
    else
        qp_out_format(out, "\"type\": \"%s\"", type);
}

/* The values of a text that are allowed. */
static void write_words(qp_out *out, const qp_field *f)
{
    const char *word = f->words;
    if (!word || (!is_text(f) && f->kind != QP_FIELD_CHOICE))
        return;
    word += *word == '|';
    if (*word == '^') {
        qp_out_format(out, ", \"pattern\": \"%s\"", word);
        return;
    }
    qp_out_text(out, ", \"enum\": [");
    for (size_t n; *word; word += n + (word[n] == '|')) {
        n = strcspn(word, "|");
        qp_out_format(out, "\"%.*s\"%s", (int)n, word, word[n] ? ", " : "");
    }
    qp_out_text(out, f->flags & QP_FIELD_NULLABLE ? ", null]" : "]");
}

static void write_property(qp_out *out, const qp_field *f, unsigned depth)
{
    bool is_number = f->kind == QP_FIELD_COUNT || f->kind == QP_FIELD_TIME ||
                     f->kind == QP_FIELD_SPAN || f->kind == QP_FIELD_PERCENT;
    qp_out_format(out, "\n%*s\"%s\": {", (int)depth, "", f->key);
    write_type(out, f);
    if (is_number && !(f->flags & (QP_FIELD_NULLABLE | QP_FIELD_SIGNED)))
        qp_out_format(out, ", \"minimum\": %u", f->least);
    write_words(out, f);
    if (f->help) {
        qp_out_text(out, ", \"description\": ");
        qp_text_json(out, f->help);
    }
    if (f->kind == QP_FIELD_TEXTS)
        qp_out_text(out, ", \"items\": {\"type\": \"string\"}");
    if (f->kind == QP_FIELD_COUNTS)
        qp_out_text(out, ", \"additionalProperties\": {\"type\": \"integer\", \"minimum\": 1}");
    if (f->kind == QP_FIELD_ROWS)
        qp_out_text(out, ", \"items\": {\"type\": \"object\"");
    if (f->kind == QP_FIELD_ROWS || f->kind == QP_FIELD_OBJECT)
        write_object(out, f->rows ? f->rows->fields : f->sub, depth + 2);
    qp_out_text(out, f->kind == QP_FIELD_ROWS ? "}}" : "}");
}

/* A property for each field or, if not `is_full`, the names of those that are required. */
static void write_members(qp_out *out, const qp_field *fields, unsigned depth, bool is_full,
                          const char **between)
{
    for (const qp_field *f = fields; f->key; f++) {
        if (f->kind == QP_FIELD_PART)
            write_members(out, f->sub, depth, is_full, between);
        if (f->kind == QP_FIELD_PART || f->flags & QP_FIELD_NO_JSON ||
            (!is_full && f->flags & QP_FIELD_OPTIONAL))
            continue;
        qp_out_text(out, *between);
        if (is_full)
            write_property(out, f, depth);
        else
            qp_out_format(out, "\"%s\"", f->key);
        *between = is_full ? "," : ", ";
    }
}

static void write_object(qp_out *out, const qp_field *fields, unsigned depth)
{
    const char *between = "";
    qp_out_text(out, ", \"additionalProperties\": false, \"properties\": {");
    write_members(out, fields, depth, true, &between);
    between = "";
    qp_out_text(out, "}, \"required\": [");
    write_members(out, fields, depth, false, &between);
    qp_out_char(out, ']');
}

void qp_fields_schema(qp_out *out, const qp_field *fields, const char *title)
{
    qp_out_format(out,
                  "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                  " \"title\": \"%s\", \"type\": \"object\"",
                  title);
    write_object(out, fields, 2);
    qp_out_text(out, "}\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void qp_csv_begin(qp_csv *csv, qp_out *out, const qp_field *fields, const char *order,
                  unsigned has, const char *unit)
{
    *csv = (qp_csv){out, qp_fields_choose(fields, order, has)};
    for (size_t i = 0; i < csv->list.n; i++) {
        const qp_field *f = csv->list.items[i].field;
        bool is_time =
            f->kind == QP_FIELD_TIME || f->kind == QP_FIELD_SPAN || f->flags & QP_FIELD_UNIT;
        qp_out_format(out, "%s%.*s%s%s", i ? "," : "", csv->list.items[i].n_name,
                      csv->list.items[i].name, is_time ? "_" : "", is_time ? unit : "");
    }
    qp_out_text(out, "\r\n");
}

static void write_csv(qp_out *out, const qp_field *f, const void *at)
{
    if (is_null(f, at))
        return;
    switch (f->kind) {
    case QP_FIELD_WORD:
        qp_out_text(out, text_at(at));
        return;
    case QP_FIELD_CHANGE:
        qp_out_format(out, "%" PRId64, change_at(f, at));
        return;
    case QP_FIELD_PERCENT:
        qp_out_format(out, "%.2f", *(const double *)at);
        return;
    case QP_FIELD_YES:
        qp_out_text(out, *(const bool *)at ? "yes" : "no");
        return;
    default:
        if (is_text(f))
            qp_text_csv(out, text_at(at));
        else if (count_at(f, at) != QP_FIELD_NONE)
            qp_out_format(out, "%" PRIu64, count_at(f, at));
    }
}

void qp_csv_row(const qp_csv *csv, const void *row)
{
    for (size_t i = 0; i < csv->list.n; i++) {
        if (i)
            qp_out_char(csv->out, ',');
        write_csv(csv->out, csv->list.items[i].field,
                  (const char *)row + csv->list.items[i].at);
    }
    qp_out_text(csv->out, "\r\n");
}

void qp_rows_csv(qp_out *out, const qp_rows *rows, const void *data, const char *order,
                 unsigned has, const char *unit)
{
    qp_csv csv;
    row_space row;
    qp_csv_begin(&csv, out, rows->fields, order, has, unit);
    for (size_t at = 0; next_row(rows, data, &at, &row);)
        qp_csv_row(&csv, &row);
}

uint64_t qp_field_count(const qp_field *f, const void *at)
{
    return count_at(f, at);
}

/* ---- text ------------------------------------------------------------------------------------ */

static qp_align align_of(const qp_field *f)
{
    bool is_left = (is_text(f) || f->kind == QP_FIELD_YES) && !(f->flags & QP_FIELD_RIGHT);
    return f->kind == QP_FIELD_NAME || f->kind == QP_FIELD_TEXT ? QP_KEEP_BEGIN
           : f->kind == QP_FIELD_PLACE                          ? QP_KEEP_END
           : is_left                                            ? QP_ALIGN_LEFT
                                                                : QP_ALIGN_RIGHT;
}

/* The head of a column, which lies in the listing. */
static void write_head(qp_listing *l, size_t i, const char *title)
{
    bool is_half = strcmp(title, "±") == 0;
    qp_field_kind kind = l->list.items[i].field->kind;
    bool is_in_unit =
        kind == QP_FIELD_TIME || (kind == QP_FIELD_SPAN && qp_unit_is_cycles(l->unit));
    bool has_unit = is_in_unit && *title && !is_half;
    snprintf(l->heads[i], sizeof l->heads[i], "%s%s",
             is_half ? qp_screen_sign(l->screen, QP_SIGN_HALF) : title,
             has_unit ? l->unit.suffix : "");
}

void qp_listing_begin(qp_listing *l, const qp_screen *s, const qp_field *fields,
                      const char *order, unsigned has, qp_unit unit)
{
    *l = (qp_listing){.screen = s, .list = qp_fields_choose(fields, order, has), .unit = unit};
    qp_table_init(&l->table);
    for (size_t i = 0; i < l->list.n && i < QP_TABLE_COLUMNS; i++) {
        const qp_field *f = l->list.items[i].field;
        write_head(l, i, f->title ? f->title : f->key);
        l->has_halves |= f->title && strcmp(f->title, "±") == 0;
        qp_table_column(&l->table, l->heads[i], align_of(f), f->rank);
    }
}

void qp_listing_title(qp_listing *l, const char *key, const char *title)
{
    for (size_t i = 0; i < l->list.n && i < QP_TABLE_COLUMNS; i++)
        if (strcmp(l->list.items[i].field->key, key) == 0)
            write_head(l, i, title);
}

/* @param half  of the interval, or NULL. @return to, or another text */
static const char *time_text(const qp_listing *l, uint64_t ticks, const uint64_t *half,
                             char *to)
{
    if (l->has_halves && half && !ticks && !*half)
        return "0"; /* nothing was found: not that it is less than the last digit */
    return qp_unit_estimate(to, ticks, half ? *half : 0, l->unit);
}

static const char *span_text(const qp_listing *l, uint64_t ticks, const uint64_t *half,
                             char *to)
{
    if (qp_unit_is_cycles(l->unit))
        return time_text(l, ticks, half, to);
    return *l->unit.suffix ? qp_unit_time_estimate(to, ticks, half ? *half : 0)
                           : qp_unit_count(to, ticks);
}

/* @param to [QP_NUMBER_BYTES] @return to, or another text */
static const char *figure_text(const qp_listing *l, const qp_field *f, const void *at, char *to)
{
    bool is_number =
        f->kind == QP_FIELD_COUNT || f->kind == QP_FIELD_TIME || f->kind == QP_FIELD_SPAN;
    if ((is_number && count_at(f, at) == QP_FIELD_NONE) ||
        (f->kind == QP_FIELD_PERCENT && *(const double *)at < 0))
        return f->flags & QP_FIELD_BLANK ? "" : "-";
    const void *half = f->half_at ? (const char *)at - f->at + f->half_at : NULL;
    if (half && f->kind != QP_FIELD_PERCENT && count_at(f, half) == QP_FIELD_NONE)
        half = NULL;
    switch (f->kind) {
    case QP_FIELD_TIME:
        return time_text(l, count_at(f, at), half, to);
    case QP_FIELD_SPAN: /* only times have a unit with a name */
        return span_text(l, count_at(f, at), half, to);
    case QP_FIELD_PERCENT:
        return qp_unit_percent_estimate(to, *(const double *)at,
                                        half ? *(const double *)half : 0);
    case QP_FIELD_YES:
        return !*(const bool *)at ? "" : f->words ? f->words : "yes";
    default:
        return qp_unit_count(to, count_at(f, at));
    }
}

void qp_listing_row(qp_listing *l, const void *row, qp_style style)
{
    char number[QP_NUMBER_BYTES];
    for (size_t i = 0; i < l->list.n; i++) {
        const qp_field *f = l->list.items[i].field;
        const void *at = (const char *)row + l->list.items[i].at;
        qp_style own = l->is_dim                                              ? QP_STYLE_DIM
                       : f->flags & QP_FIELD_HOT                              ? style
                       : f->kind == QP_FIELD_PLACE || f->flags & QP_FIELD_DIM ? QP_STYLE_DIM
                                                                              : QP_STYLE_PLAIN;
        if (f->kind == QP_FIELD_NAME || f->kind == QP_FIELD_PLACE)
            qp_table_name(&l->table, own, text_at(at));
        else if (f->kind == QP_FIELD_TEXT)
            qp_table_cell(&l->table, own, text_at(at));
        else if (f->kind == QP_FIELD_WORD)
            qp_table_plain(&l->table, own, text_at(at));
        else
            qp_table_plain(&l->table, own, figure_text(l, f, at, number));
    }
}

void qp_listing_rows(qp_listing *l, const qp_rows *rows, const void *data)
{
    row_space row;
    for (size_t at = 0; next_row(rows, data, &at, &row);)
        qp_listing_row(l, &row, rows->style ? rows->style(&row) : QP_STYLE_PLAIN);
}

bool qp_rows_text(const qp_screen *s, const qp_rows *rows, const void *data, const char *order,
                  unsigned has, qp_unit unit)
{
    qp_listing l;
    qp_listing_begin(&l, s, rows->fields, order, has, unit);
    qp_listing_rows(&l, rows, data);
    return qp_listing_end(&l, 0);
}

bool qp_listing_end(qp_listing *l, unsigned indent)
{
    bool is_good = qp_table_print(&l->table, l->screen, indent);
    qp_table_fini(&l->table);
    return is_good;
}
