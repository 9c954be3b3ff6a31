/* shell.h: words of commands that a user copies into a shell. */
#ifndef QP_BASE_TEXT_SHELL_H
#define QP_BASE_TEXT_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/* A word as a shell reads it, in quotes if it needs them. With characters that qp_text_terminal()
 * does not show as they are: $'...' with octal numbers, which bash, ksh, zsh and the standard of
 * 2024 read. @param to [room] @return false: no room */
bool qp_shell_word(char *to, size_t room, const char *word);

/* Append a blank and the name of a file to a command: with ./ before a hyphen, which would begin an
 * option. @return false: no room */
bool qp_shell_add_file(char *to, size_t room, const char *path);

#endif
