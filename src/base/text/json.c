/* json.c: JSON, one row of an array a line, so that it can be read and compared line by line. */
#include "base/text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/text.h"

void qp_json_init(qp_json *json, qp_out *out)
{
    *json = (qp_json){.out = out};
}

static void write_key(qp_json *json, const char *key, bool is_container)
{
    if (json->has_items[json->depth])
        qp_out_char(json->out, ',');
    /* A line for each row and for each part of the whole; the fields of a row share one. */
    if (!json->is_line && (json->depth == 1 || (is_container && !key && json->depth > 1))) {
        qp_out_char(json->out, '\n');
        qp_out_repeat(json->out, ' ', json->depth);
    }
    json->has_items[json->depth] = true;
    if (key) {
        qp_text_json(json->out, key);
        qp_out_char(json->out, ':');
    }
}

void qp_json_begin(qp_json *json, const char *key, char bracket)
{
    write_key(json, key, true);
    qp_out_char(json->out, bracket);
    json->has_items[++json->depth] = false;
}

void qp_json_end(qp_json *json, char bracket)
{
    json->depth--;
    qp_out_char(json->out, bracket);
    if (json->depth == 0)
        qp_out_char(json->out, '\n');
}

void qp_json_row(qp_json *json)
{
    bool *has_items = &json->has_items[json->depth];
    qp_out_bytes(json->out, *has_items ? ",\n" : "\n", *has_items ? 2 : 1);
    *has_items = true;
}

void qp_json_text(qp_json *json, const char *key, const char *value)
{
    write_key(json, key, false);
    if (value)
        qp_text_json(json->out, value);
    else
        qp_out_text(json->out, "null");
}

void qp_json_parts(qp_json *json, const char *text)
{
    char part[4096];
    while (*text) {
        size_t n = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)n, text);
        qp_json_text(json, NULL, part);
        text += n + (text[n] == ',');
    }
}

void qp_json_count(qp_json *json, const char *key, uint64_t value)
{
    write_key(json, key, false);
    qp_out_format(json->out, "%" PRIu64, value);
}

void qp_json_change(qp_json *json, const char *key, int64_t value)
{
    write_key(json, key, false);
    qp_out_format(json->out, "%" PRId64, value);
}

void qp_json_number(qp_json *json, const char *key, double value)
{
    write_key(json, key, false);
    qp_out_format(json->out, "%.10g", value);
}

void qp_json_decimal(qp_json *json, const char *key, uint64_t value, unsigned n_digits)
{
    uint64_t scale = 1;
    for (; n_digits && value % 10 == 0; n_digits--)
        value /= 10;
    for (unsigned i = 0; i < n_digits; i++)
        scale *= 10;
    write_key(json, key, false);
    qp_out_format(json->out, "%" PRIu64, value / scale);
    if (n_digits)
        qp_out_format(json->out, ".%0*" PRIu64, (int)n_digits, value % scale);
}

void qp_json_bool(qp_json *json, const char *key, bool value)
{
    write_key(json, key, false);
    qp_out_text(json->out, value ? "true" : "false");
}

void qp_json_moment(qp_json *json, const char *key, uint64_t ns)
{
    char date[40], text[64];
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    if (!ns || !gmtime_r(&seconds, &parts)) {
        qp_json_null(json, key);
        return;
    }
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, sizeof text, "%s.%09" PRIu64 "Z", date, ns % 1000000000);
    qp_json_text(json, key, text);
}

void qp_json_null(qp_json *json, const char *key)
{
    write_key(json, key, false);
    qp_out_text(json->out, "null");
}
