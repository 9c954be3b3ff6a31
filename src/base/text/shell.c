/* shell.c: see shell.h. */
#include "base/text/shell.h"

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

enum { AS_IS, QUOTED, ESCAPED };

/* @return how the word must be written */
static int kind_of(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=-";
    char shown[64];
    size_t n_bytes = strlen(word), n;
    if (n_bytes && word[strspn(word, plain)] == '\0')
        return AS_IS;
    for (size_t i = 0; i < n_bytes; i += n) {
        char letter[8] = "";
        uint32_t code;
        n = qp_text_char(word + i, n_bytes - i, &code);
        memcpy(letter, word + i, n);
        qp_text_terminal(shown, sizeof shown, letter, NULL);
        if (strcmp(shown, letter) != 0)
            return ESCAPED; /* the terminal does not show it as it is */
    }
    return QUOTED;
}

/* The next byte of a word, with what the quotes around it demand. @return bytes of `piece` */
static size_t write_byte(char piece[8], unsigned char byte, int kind)
{
    if (kind == ESCAPED && (byte < ' ' || byte >= 0x7F))
        return (size_t)snprintf(piece, 8, "\\%03o", byte);
    if (kind == ESCAPED && (byte == '\'' || byte == '\\'))
        return (size_t)snprintf(piece, 8, "\\%c", byte);
    return (size_t)snprintf(piece, 8, kind == QUOTED && byte == '\'' ? "'\\''" : "%c", byte);
}

bool qp_shell_word(char *to, size_t room, const char *word)
{
    static const char *const begins[] = {"", "'", "$'"};
    int kind = kind_of(word);
    char piece[8];
    size_t n = (size_t)snprintf(to, room, "%s", begins[kind]);
    for (; *word && n + sizeof piece < room; word++) {
        size_t n_piece = write_byte(piece, (unsigned char)*word, kind);
        memcpy(to + n, piece, n_piece);
        n += n_piece;
    }
    if (n + 2 > room)
        return false;
    to[n] = '\'';
    to[n + (kind != AS_IS)] = '\0';
    return !*word;
}

bool qp_shell_add_file(char *to, size_t room, const char *path)
{
    char word[4096 + 8];
    size_t n = strlen(to);
    if (n + 1 < room)
        to[n++] = ' ';
    return snprintf(word, sizeof word, "%s%s", *path == '-' ? "./" : "", path) <
               (int)sizeof word &&
           qp_shell_word(to + n, room - n, word);
}
