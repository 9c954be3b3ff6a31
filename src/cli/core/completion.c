/* completion.c: what a shell offers for a word. The scripts ask the tool, whose tables therefore have no copy. */
#include <stdio.h>
#include <string.h>

#include "cli/core/cli.h"
#include "format/options.h"

/* ---- scripts --------------------------------------------------------------------------------- */

/* Bash makes words of "--format=js": "--format", "=" and "js". */
static const char bash[] =
    "# bash completion of qprof\n"
    "_qprof() {\n"
    "    local word words=()\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
    "        if [[ ${#words[@]} -gt 0 && ($word == = || ${words[-1]} == -*=) ]]; then\n"
    "            words[-1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    mapfile -t COMPREPLY < <(\"${COMP_WORDS[0]/#\\~\\//$HOME/}\" help --complete -- "
    "\"${words[@]}\" 2>/dev/null)\n"
    "    COMPREPLY=(\"${COMPREPLY[@]%%$'\\t'*}\")\n"
    "    [[ ${COMPREPLY[0]} != :program ]] || mapfile -t COMPREPLY < <(compgen -c -- "
    "\"$word\")\n"
    "    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
    "    [[ ${words[-1]} != -*=* ]] || COMPREPLY=(\"${COMPREPLY[@]#*=}\")\n"
    "}\n"
    "complete -o bashdefault -o default -F _qprof qprof\n";

static const char zsh[] =
    "#compdef qprof\n"
    "local line\n"
    "local -a lines open closed\n"
    "lines=(${(f)\"$(${(Q)words[1]} help --complete -- \"${(@Q)words[2,CURRENT-1]}\" "
    "\"${(Q)PREFIX}\" 2>/dev/null)\"})\n"
    "if [[ $lines[1] == :program ]]; then\n"
    "    _command_names -e\n"
    "elif (( ! $#lines )); then\n"
    "    compset -P '-*='\n"
    "    _files\n"
    "else\n"
    "    for line in $lines; do\n"
    "        line=${${line//:/\\\\:}/$'\\t'/:}\n"
    "        if [[ ${line%%:*} == *= ]]; then open+=($line); else closed+=($line); fi\n"
    "    done\n"
    "    _describe qprof closed -- open -S ''\n"
    "fi\n";

static const char fish[] =
    "# fish completion of qprof\n"
    "function __qprof\n"
    "    set -l words (commandline -opc)\n"
    "    set -l last (commandline -ct)\n"
    "    set -l found ($words[1] help --complete -- $words[2..] \"$last\" 2>/dev/null)\n"
    "    if test \"$found\" = :program\n"
    "        __fish_complete_command\n"
    "    else if test (count $found) -gt 0\n"
    "        printf '%s\\n' $found\n"
    "    else\n"
    "        set -l option (string match -r -- '^-.*?=' \"$last\")\n"
    "        __fish_complete_path (string replace -r -- '^-.*?=' '' \"$last\") | string "
    "replace "
    "-r -- '^' \"$option\"\n"
    "    end\n"
    "end\n"
    "complete -c qprof -f -a '(__qprof)'\n";

void qp_completion_script(qp_out *out, const char *shell)
{
    qp_out_text(out, strcmp(shell, "bash") == 0  ? bash
                     : strcmp(shell, "zsh") == 0 ? zsh
                                                 : fish);
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct {
    qp_out *out;
    const char *last; /* what is offered begins with this */
} offers;

/* Offer one word with the text that explains it, if it begins with what was typed. */
static void offer(const offers *to, const char *dashes, const char *name, const char *end,
                  const char *help)
{
    char word[256];
    snprintf(word, sizeof word, "%s%s%s", dashes, name, end);
    if (strncmp(word, to->last, strlen(to->last)) == 0)
        qp_out_format(to->out, "%s%s%s\n", word, *help ? "\t" : "", help);
}

/* Offer each of "a|b". @param begin  what was typed before the value, [n_begin]
 * @param is_set  several may be given, with ',' between them */
static void offer_values(const offers *to, const char *words, const char *begin, size_t n_begin,
                         bool is_set)
{
    char before[512], word[128];
    const char *typed = begin + n_begin, *comma = is_set ? strrchr(typed, ',') : NULL;
    if (!strchr(words, '|'))
        return; /* a kind of value, no list */
    snprintf(before, sizeof before, "%.*s",
             (int)((comma ? (size_t)(comma + 1 - begin) : n_begin)), begin);
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, "|,");
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        offer(to, before, word, "", "");
        at += n + (at[n] != '\0');
    }
}

static void offer_commands(const offers *to, const qp_command *const *c)
{
    for (; *c; c++)
        offer(to, "", qp_command_word(*c), "", (*c)->summary);
}

/* Words that begin with '-'. Options of the recorder are given with one hyphen or two. */
static void offer_flags(const offers *to, const qp_command *command)
{
    const char *last = to->last, *dashes = last[1] && last[1] != '-' ? "-" : "--";
    const char *name = last + (last[1] == '-' ? 2 : 1), *equals = strchr(last, '=');
    size_t n = equals ? (size_t)(equals - name) : 0, n_begin = (size_t)(name - last) + n + 1;
    for (const qp_flag *f = command->flags; !equals && f->name; f++)
        offer(to, "--", f->name, f->value ? "=" : "", f->help);
    const qp_flag *flag = equals ? qp_flag_named(command, name, n) : NULL;
    if (flag && flag->value)
        offer_values(to, flag->value, last, n_begin, false);
    for (unsigned i = 0; command->takes_rest && !flag && i < QP_N_OPTIONS; i++) {
        const char *known = qp_option_name((qp_option)i);
        const qp_option_kind kind = qp_option_kind_of((qp_option)i);
        bool is_listed = dashes[1] && qp_flag_named(command, known, strlen(known));
        if (!equals && !is_listed)
            offer(to, dashes, known, "=", qp_option_help[i]);
        else if (equals && strlen(known) == n && memcmp(known, name, n) == 0)
            offer_values(to, kind == QP_OPTION_BOOL ? "yes|no" : qp_option_values(i), last,
                         n_begin, kind == QP_OPTION_SET);
    }
}

/* The flag whose value is the next word: "--format", "-s". @return NULL: none */
static const qp_flag *flag_before_value(const qp_command *command, const char *word)
{
    if (word[0] != '-')
        return NULL;
    const qp_flag *flag =
        word[1] == '-' ? qp_flag_named(command, word + 2, strlen(word + 2)) : NULL;
    for (const qp_flag *f = command->flags; f->name; f++)
        if (f->letter && word[1] == f->letter && !word[2])
            flag = f;
    return flag && flag->value ? flag : NULL;
}

/* Which of the words is the program of `run`. @return n: none of them */
static int program_of(const qp_command *command, int i, int n, char *const *words)
{
    for (; i < n; i++) {
        if (strcmp(words[i], "--") == 0)
            return i + 1;
        if (flag_before_value(command, words[i]))
            i++;
        else if (words[i][0] != '-' && words[i][0])
            return i;
    }
    return n;
}

/* The command, or the group of it, that the first of the words name. @param at  receives how many
 * @param among  receives the commands that the next word may name; NULL: it names none */
static const qp_command *find_command(const qp_cli *cli, int n, char *const *words, int *at,
                                      const qp_command *const **among)
{
    const qp_command *found = NULL;
    *among = cli->commands;
    for (*at = 0; *among && *at < n; ++*at) {
        const qp_command *const *c = *among;
        while (*c && strcmp(qp_command_word(*c), words[*at]) != 0)
            c++;
        if (!*c)
            break;
        found = *c;
        *among = found == cli->command && *at == 0 ? cli->commands : found->subs; /* "help" */
    }
    return found;
}

/* What a command can have after the first of its words. @param last  which of them is completed, > 0 */
static void offer_of_command(const offers *to, const qp_command *command, int at, int last,
                             char *const *words)
{
    const qp_flag *flag = flag_before_value(command, words[last - 1]);
    int program = command->takes_rest ? program_of(command, at, last, words) : last + 1;
    if (program < last)
        return;
    if (flag)
        offer_values(to, flag->value, "", 0, false);
    else if (to->last[0] == '-' && strcmp(words[last - 1], "--") != 0)
        offer_flags(to, command);
    else if (program == last)
        qp_out_text(to->out, ":program\n");
}

void qp_complete(const qp_cli *cli, int n, char *const *words)
{
    const qp_command *const *among;
    int at;
    if (!n)
        return;
    offers to = {cli->screen.out, words[n - 1]};
    const qp_command *command = find_command(cli, n - 1, words, &at, &among);
    if (among && to.last[0] != '-') {
        if (at == n - 1)
            offer_commands(&to, among);
    } else if (command && command->flags) {
        offer_of_command(&to, command, at, n - 1, words);
    } else {
        offer(&to, "--", "help", "", "help of the tool, or of a command");
        if (!command)
            offer(&to, "--", "version", "", "version of the tool");
    }
}
