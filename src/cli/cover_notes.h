/* cover_notes.h: missed lines as annotations that a CI shows beside the source. */
#ifndef QP_CLI_COVER_NOTES_H
#define QP_CLI_COVER_NOTES_H

#include "cli/cover.h"

/* What --annotations takes; in front of these, "none" is 0. */
#define QP_NOTES_WORDS "none|github|gitlab|plain"
typedef enum { QP_NOTES_NONE, QP_NOTES_GITHUB, QP_NOTES_GITLAB, QP_NOTES_PLAIN } qp_notes_form;

/* Every range of missed lines, and every way of a branch that was never taken.
 * @param wants  lines that matter, see qp_cover_ranges; NULL: all
 * @param data   for wants */
void qp_cover_notes(qp_out *out, qp_notes_form form, const qp_cover *c,
                    bool (*wants)(const void *data, const qp_cover_file *f, size_t line),
                    const void *data);

/* --annotations is a form by itself. @return false: --format was given, too; a message was printed */
bool qp_cover_notes_are_alone(const qp_cli *cli);

#define QP_COVER_FLAG_NOTES                                                                    \
    {                                                                                          \
        "annotations", 0, QP_FLAG_WORD, QP_NOTES_WORDS, QP_COVER_AT(annotations), NULL,        \
            "instead of the text, what was missed as a CI shows it beside the source: "        \
            "workflow commands of GitHub, code quality of GitLab, or FILE:LINE: ..."           \
    }

#endif
