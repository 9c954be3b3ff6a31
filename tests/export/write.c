/* write.c: a picture in a format, on standard output; its totals as "name number" lines.
 *
 * usage: export_write empty|small|hostile|large FORMAT|lcov2|gcovr7|totals [ROOT] */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/export.h"
#include "export/picture.h"

static void print_totals(const qp_cover_totals *t)
{
    printf("files %" PRIu64 "\nfunctions %" PRIu64 "\nfunctions_hit %" PRIu64 "\nlines %" PRIu64
           "\nlines_hit %" PRIu64 "\nlines_partial %" PRIu64 "\nblocks %" PRIu64
           "\nblocks_hit %" PRIu64 "\nbranches %" PRIu64 "\nbranches_hit %" PRIu64
           "\ncalls %" PRIu64 "\n",
           t->files, t->functions, t->functions_hit, t->lines, t->lines_hit, t->lines_partial,
           t->blocks, t->blocks_hit, t->branches, t->branches_hit, t->calls);
}

int main(int n_words, char **words)
{
    static qp_out out;
    qp_error error = {.text = "usage: export_write PICTURE FORMAT|lcov2|gcovr7|totals [ROOT]"};
    qp_cover_export_options o = {.root = n_words == 4 ? words[3] : "/src"};
    picture *p = picture_new();
    const qp_cover *c = n_words >= 3 ? picture_named(p, words[1]) : NULL;
    bool is_good = c != NULL;
    if (is_good && strcmp(words[2], "totals") == 0) {
        print_totals(&c->totals);
    } else if (is_good) {
        o.is_lcov2 = strcmp(words[2], "lcov2") == 0;
        o.is_gcovr7 = strcmp(words[2], "gcovr7") == 0;
        const qp_cover_exporter *x = qp_cover_exporter_named(o.is_lcov2    ? "lcov"
                                                             : o.is_gcovr7 ? "gcovr"
                                                                           : words[2]);
        qp_out_init(&out, STDOUT_FILENO);
        is_good = x && qp_cover_export(x, c, &out, &o, &error) && qp_out_close(&out) == 0;
    }
    if (!is_good)
        fprintf(stderr, "export_write: %s\n", error.text);
    picture_free(p);
    return !is_good;
}
