/* source_map.c: source maps, version 3 (ECMA-426), with sections and without: which file and line a generated line
 * comes from. Read qp_source_map_add first; then decode(). Of a generated line, what its first segment with
 * a source says holds for the whole line. */
#include "code/code.h"

#include <stdio.h>
#include <string.h>

#include "base/os/mapping.h"

enum { DEPTH_MAX = 64, PATH_BYTES = 4096, LINES_MAX = 50000000, VLQ_BITS = 5, VLQ_MORE = 32 };

/* ---- JSON: values are the bytes from their first one on ---------------------------------- */

typedef struct {
    const char *at, *end;
} json;

static void skip_space(json *j)
{
    while (j->at < j->end &&
           (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
        j->at++;
}

static bool take(json *j, char c)
{
    skip_space(j);
    if (j->at >= j->end || *j->at != c)
        return false;
    j->at++;
    return true;
}

static bool skip_string(json *j)
{
    if (!take(j, '"'))
        return false;
    for (; j->at < j->end; j->at++) {
        if (*j->at == '\\')
            j->at++;
        else if (*j->at == '"')
            return j->at++, true;
    }
    return false;
}

static bool skip_value(json *j)
{
    unsigned depth = 0;
    do {
        skip_space(j);
        if (j->at >= j->end)
            return false;
        if (*j->at == '"') {
            if (!skip_string(j))
                return false;
        } else {
            depth += *j->at == '{' || *j->at == '[';
            if (*j->at == '}' || *j->at == ']') {
                if (!depth--)
                    return false;
            }
            j->at++;
        }
        if (depth > DEPTH_MAX)
            return false;
    } while (depth || (j->at < j->end && !strchr(",]}", *j->at)));
    return true;
}

/* The value of a member. @return false: the object has none of that name */
static bool member(json object, const char *name, json *value)
{
    size_t n = strlen(name);
    if (!take(&object, '{'))
        return false;
    do {
        skip_space(&object);
        const char *key = object.at + 1;
        if (!skip_string(&object))
            return false;
        bool is_it = (size_t)(object.at - 1 - key) == n && !memcmp(key, name, n);
        if (!take(&object, ':'))
            return false;
        if (is_it)
            return *value = object, true;
    } while (skip_value(&object) && take(&object, ','));
    return false;
}

/* The first element of an array, or after another one the next. @return false: there is none */
static bool element(json *array, json *value, bool is_first)
{
    if (is_first ? !take(array, '[') : !skip_value(array) || !take(array, ','))
        return false;
    skip_space(array);
    *value = *array;
    return array->at < array->end && *array->at != ']';
}

static uint32_t number(json j)
{
    uint32_t n = 0;
    skip_space(&j);
    for (; j.at < j.end && *j.at >= '0' && *j.at <= '9' && n < LINES_MAX; j.at++)
        n = n * 10 + (uint32_t)(*j.at - '0');
    return n;
}

static unsigned hex(const char *at)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++)
        n = n << 4 | (unsigned)((at[i] & 15) + (at[i] > '9' ? 9 : 0));
    return n;
}

/* The bytes of a string, as UTF-8 without pairs of surrogates. @return false: null, or too long */
static bool text_of(json j, char *to, size_t n_bytes)
{
    size_t n = 0;
    json end = j;
    to[0] = '\0';
    if (!skip_string(&end))
        return false;
    for (j.at = strchr(j.at, '"') + 1; j.at < end.at - 1; j.at++) {
        unsigned c = (unsigned char)*j.at;
        if (n + 4 > n_bytes)
            return false;
        if (c == '\\' && *++j.at == 'u' && end.at - j.at > 5) {
            c = hex(j.at + 1);
            j.at += 4;
            if (c >= 0x800)
                to[n++] = (char)(0xE0 | c >> 12);
            if (c >= 0x80) {
                to[n] = (char)((c >= 0x800 ? 0x80 : 0xC0) | (c >> 6 & 63));
                n++;
                c = 0x80 | (c & 63);
            }
        } else if (c == '\\') {
            c = (unsigned char)*j.at; /* of a path: " \ and / */
        }
        to[n++] = (char)c;
    }
    to[n] = '\0';
    return n > 0;
}

/* ---- paths -------------------------------------------------------------------------------- */

/* Leave out "." and, with what is before it, "..". */
static void simplify(char *path)
{
    char *to = path;
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");
        bool is_up = n == 2 && at[0] == '.' && at[1] == '.';
        char *parent = to;
        while (parent > path && parent[-1] == '/')
            parent--;
        while (parent > path && parent[-1] != '/')
            parent--;
        if (is_up && to > path && strncmp(parent, "../", 3) != 0 && *parent != '/') {
            to = parent;
        } else if (!(n == 1 && at[0] == '.') && (n || to == path)) {
            memmove(to, at, n + (at[n] == '/'));
            to += n + (at[n] == '/');
        }
        at += n + (at[n] == '/');
    }
    *to = '\0';
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || strstr(path, "://");
}

/* A source is named from the folder of the generated file. @return its text; 0: none, or no room */
static qp_ref source_ref(qp_sources *s, const char *file, json root, json source)
{
    char path[3 * PATH_BYTES], name[PATH_BYTES], folder[PATH_BYTES] = "";
    const char *slash = strrchr(file, '/');
    if (!text_of(source, name, sizeof name))
        return 0;
    if (root.at && !is_absolute(name))
        text_of(root, folder, sizeof folder);
    bool is_beside = slash && !is_absolute(name) && !is_absolute(folder);
    int n = snprintf(path, sizeof path, "%.*s%s%s%s", is_beside ? (int)(slash + 1 - file) : 0,
                     file, folder, folder[0] ? "/" : "", name);
    if (n >= (int)sizeof path)
        return 0;
    if (!strstr(path, "://"))
        simplify(path);
    return qp_texts_add(s->texts, path);
}

/* ---- mappings ------------------------------------------------------------------------------ */

/* A number in base 64, five bits a digit, lowest first; its lowest bit is the sign. @return false: none */
static bool take_vlq(json *j, int64_t *number)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint64_t n = 0;
    for (unsigned shift = 0; j->at < j->end && *j->at && shift < 60; shift += VLQ_BITS) {
        const char *digit = strchr(digits, *j->at);
        if (!digit)
            return false;
        unsigned bits = (unsigned)(digit - digits);
        j->at++;
        n |= (uint64_t)(bits & (VLQ_MORE - 1)) << shift;
        if (!(bits & VLQ_MORE)) {
            *number = n & 1 ? -(int64_t)(n >> 1) : (int64_t)(n >> 1);
            return true;
        }
    }
    return false;
}

/* @param sources  [n_sources]
 * @param to       [n] generated lines from the first one of this map on. @return false: no mappings */
static bool decode(json mappings, const qp_ref *sources, uint32_t n_sources, qp_mapped_line *to,
                   uint32_t n)
{
    int64_t field[5] = {
        0}; /* column, source, line, its column, name; each is added to the one before */
    json end = mappings;
    if (!skip_string(&end))
        return false;
    mappings.at = strchr(mappings.at, '"') + 1;
    mappings.end = end.at - 1;
    for (uint32_t line = 0; mappings.at < mappings.end && line < n;) {
        if (*mappings.at == ';' || *mappings.at == ',') {
            line += *mappings.at == ';';
            mappings.at++;
            continue;
        }
        unsigned n_fields = 0;
        for (int64_t delta; n_fields < 5 && take_vlq(&mappings, &delta); n_fields++)
            field[n_fields] += n_fields ? delta : 0;
        if (n_fields != 1 && n_fields != 4 && n_fields != 5)
            return false;
        bool is_known = n_fields > 1 && field[1] >= 0 && field[1] < n_sources &&
                        field[2] >= 0 && field[2] < INT32_MAX;
        if (is_known && !to[line].source)
            to[line] = (qp_mapped_line){sources[field[1]], (int32_t)field[2] + 1};
    }
    return true;
}

/* The lines of one map. @return false: it is none */
static bool fill(qp_sources *s, const char *file, json map, qp_mapped_line *to, uint32_t n)
{
    json mappings, sources, one, root = {0};
    uint32_t n_sources = 0;
    if (!member(map, "mappings", &mappings) || !member(map, "sources", &sources))
        return false;
    member(map, "sourceRoot", &root);
    json walk = sources;
    for (bool is_first = true; element(&walk, &one, is_first); is_first = false)
        n_sources++;
    const size_t n_bytes = (n_sources + 1) * sizeof(qp_ref);
    qp_ref *refs = qp_pages_take(n_bytes);
    if (!refs)
        return false;
    n_sources = 0;
    for (bool is_first = true; element(&sources, &one, is_first); is_first = false)
        refs[n_sources++] = source_ref(s, file, root, one);
    bool is_map = decode(mappings, refs, n_sources, to, n);
    qp_pages_drop(refs, n_bytes);
    return is_map;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* The next section of an index map, or the map itself. @param line  its first generated line, from 0 */
static bool next_section(json whole, json *walk, bool is_first, json *map, uint32_t *line)
{
    json offset, value;
    *line = 0;
    *map = whole;
    if (is_first && !member(whole, "sections", walk)) {
        walk->at = NULL;
        return true;
    }
    if (!walk->at || !element(walk, &value, is_first) || !member(value, "map", map))
        return false;
    if (member(value, "offset", &offset) && member(offset, "line", &offset))
        *line = number(offset);
    return true;
}

qp_source_map_result qp_source_map_add(qp_sources *s, const char *file, const char *text,
                                       size_t n_bytes)
{
    json whole = {text, text + n_bytes}, walk = {0}, map, version, end = whole;
    uint32_t line, n = 1;
    if (!skip_value(&end) || !member(whole, "version", &version) || number(version) != 3)
        return QP_SOURCE_MAP_BAD;
    for (size_t i = 0; i < n_bytes; i++)
        n += text[i] == ';'; /* of all maps: the lines of each fit */
    for (bool is_first = true; next_section(whole, &walk, is_first, &map, &line);
         is_first = false)
        if ((n += line) > LINES_MAX)
            return QP_SOURCE_MAP_BAD;
    qp_ref ref = qp_blob_take(s->space, &s->texts->blobs,
                              sizeof(qp_source_map) + (uint64_t)n * sizeof(qp_mapped_line));
    if (!ref)
        return QP_SOURCE_MAP_NO_ROOM;
    qp_source_map *to = qp_at_ref(s->space, ref);
    for (bool is_first = true; next_section(whole, &walk, is_first, &map, &line);
         is_first = false)
        if (!fill(s, file, map, to->lines + line, n - line))
            return QP_SOURCE_MAP_BAD;
    to->n_lines = n;
    return qp_sources_set_map(s, file, ref) ? QP_SOURCE_MAP_SET : QP_SOURCE_MAP_NO_ROOM;
}

static const qp_mapped_line *mapped(const qp_source_map *map, int32_t line)
{
    return line > 0 && (uint32_t)line <= map->n_lines && map->lines[line - 1].source
               ? &map->lines[line - 1]
               : NULL;
}

qp_ref qp_source_map_source(const qp_source_map *map, const qp_line *lines, int64_t n_lines)
{
    for (int64_t i = 0; lines && i < n_lines; i++)
        if (mapped(map, lines[i].line))
            return mapped(map, lines[i].line)->source;
    return 0;
}

void qp_source_map_apply(const qp_source_map *map, qp_ref source, qp_line *lines,
                         uint32_t n_lines)
{
    int32_t last = 0;
    for (uint32_t i = 0; i < n_lines; i++) {
        const qp_mapped_line *m = mapped(map, lines[i].line);
        last = m && m->source == source ? m->line : last;
        lines[i].line = last;
    }
}
