/* page_source.c: see page_source.h. */
#include "export/page_source.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "export/page.h"
#include "model/lines.h"

static bool has_parent_step(const char *path)
{
    for (; path; path = strchr(path, '/')) {
        path += *path == '/';
        if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || !path[2]))
            return true;
    }
    return false;
}

/* Does an absolute name lie below one of these folders, ":" between them? */
static bool is_below_one(const char *file, const char *folders)
{
    while (folders && *folders) {
        size_t n = strcspn(folders, ":"), n_name = n;
        while (n_name && folders[n_name - 1] == '/')
            n_name--;
        if (n && strncmp(file, folders, n_name) == 0 && file[n_name] == '/')
            return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

static bool is_ours_to_show(const qp_page_file *f, const qp_source *s, const char *source_path)
{
    if (f->digest && f->digest == s->digest)
        return true;
    bool is_below = f->shown[0] != '/' || strcmp(s->path, f->file) != 0 ||
                    is_below_one(f->file, source_path);
    return is_below && !has_parent_step(f->shown) && !has_parent_step(f->file);
}

void qp_page_source(qp_out *out, const qp_page_file *f, const char *source_path)
{
    qp_source s;
    char why[QP_ERROR_BYTES];
    bool is_there = qp_source_read(f->file, source_path, &s, why);
    if (is_there && !is_ours_to_show(f, &s, source_path)) {
        qp_text_format(why, sizeof why,
                       "%.300s: it is not known to be the text that was recorded; "
                       "--source-path=FOLDER shows what lies in a folder",
                       f->file);
        qp_source_fini(&s);
        is_there = false;
    }
    qp_out_text(out, "{\"missing\":");
    qp_page_text(out, is_there ? "" : why);
    qp_out_format(out, ",\"changed\":%s,\"lines\":[",
                  is_there && f->digest && f->digest != s.digest ? "true" : "false");
    for (uint32_t i = 0; is_there && i < s.n_lines; i++) {
        if (i)
            qp_out_char(out, ',');
        qp_text_script(out, s.lines[i], s.line_bytes[i]);
    }
    qp_out_text(out, "]}");
    if (is_there)
        qp_source_fini(&s);
}
