/* list_scope.c: see list_scope.h. An area is a set of procedures here, whether its run was to include
 * or to exclude them; elements that are not checked are no part of it. */
#include "cli/mainpm/mainpm.h"

#include <stdio.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/glob.h"

typedef struct {
    qp_match match;
    qp_element_kind kind;
    bool is_unwanted;
} part;

const qp_config_object *qp_list_area(const qp_config_file *file, const char *title, char *why,
                                     size_t n_bytes)
{
    const qp_config_object *all = file->objects.items;
    char titles[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < file->objects.n; i++) {
        if (strcmp(all[i].name, title) == 0)
            return &all[i];
        if (n + 1 < sizeof titles)
            n += (size_t)snprintf(titles + n, sizeof titles - n, "%s%s", n ? ", " : "",
                                  all[i].name);
    }
    snprintf(why, n_bytes, "%.80s: there is no such area; the file has %s", title,
             n ? titles : "none");
    return NULL;
}

static bool add_area(qp_list_scope *s, const qp_config_object *area, bool is_unwanted)
{
    const qp_config_element *elements = s->file.elements.items;
    for (uint32_t i = 0; i < area->n_names; i++) {
        const qp_config_element *e = &elements[area->first_name + i];
        part *p = e->is_checked ? qp_buf_add(&s->parts) : NULL;
        if (!p)
            continue;
        *p = (part){.kind = e->kind, .is_unwanted = is_unwanted};
        if (!qp_match_begin(&p->match, e->name_kind, e->name)) {
            s->parts.n--;
            return false;
        }
    }
    return !s->parts.failed;
}

static int add_areas(qp_list_scope *s, const qp_cli *cli, const qp_list *titles,
                     bool is_unwanted)
{
    char why[1024];
    for (size_t i = 0; i < titles->n; i++) {
        const qp_config_object *area =
            qp_list_area(&s->file, titles->items[i], why, sizeof why);
        if (!area)
            return qp_cli_fail(cli, "--%sarea: %s", is_unwanted ? "no-" : "", why);
        if (!add_area(s, area, is_unwanted))
            return qp_cli_fail_memory(cli);
    }
    return QP_EXIT_CLEAN;
}

int qp_list_scope_init(qp_list_scope *s, const qp_cli *cli)
{
    const qp_cover_args *a = &cli->args.cover;
    *s = (qp_list_scope){.args = &cli->args};
    qp_buf_init(&s->parts, sizeof(part));
    if (!a->areas.n && !a->no_areas.n)
        return QP_EXIT_CLEAN;
    if (!cli->args.config)
        return qp_cli_fail(cli, "--area and --no-area need a configuration file that has the "
                                "areas; name it with --config=FILE");
    if (qp_config_file_read_areas(cli, cli->args.config, &s->file) != QP_EXIT_CLEAN)
        return QP_EXIT_UNUSABLE;
    int status = add_areas(s, cli, &a->areas, false);
    return status == QP_EXIT_CLEAN ? add_areas(s, cli, &a->no_areas, true) : status;
}

void qp_list_scope_fini(qp_list_scope *s)
{
    part *parts = s->parts.items;
    for (size_t i = 0; i < s->parts.n; i++)
        qp_match_end(&parts[i].match);
    qp_free(parts);
    qp_config_file_fini(&s->file);
}

static bool is_named(const qp_list *globs, const char *module)
{
    for (size_t i = 0; i < globs->n; i++)
        if (qp_glob_fits_name(globs->items[i], module))
            return true;
    return false;
}

bool qp_list_scope_has(const qp_list_scope *s, const char *module,
                       const qp_match_method *method)
{
    const qp_cover_args *a = &s->args->cover;
    const part *parts = s->parts.items;
    if (is_named(&a->exclude, module))
        return false;
    bool is_wanted = (!a->include.n && !a->areas.n) || is_named(&a->include, module);
    for (size_t i = 0; i < s->parts.n; i++) {
        if ((is_wanted && !parts[i].is_unwanted) ||
            !qp_match_fits_method(&parts[i].match, parts[i].kind, method))
            continue;
        if (parts[i].is_unwanted)
            return false;
        is_wanted = true;
    }
    return is_wanted;
}

bool qp_list_scope_has_method(const void *scope, const char *module,
                              const qp_model_method *method)
{
    const qp_match_method match = {method->module, method->file, method->class_name,
                                   method->bare_name, method->name};
    return qp_list_scope_has(scope, module, &match);
}
