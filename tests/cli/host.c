/* host.c: a host for the tests of the tool: plays a score on a clock of its own, so that every
 * figure of the profile can be worked out by hand.
 *
 * Each argument is a word of the score:
 *   f(   enter method f, whatever bytes its name has     )      leave it
 *   12   12 us pass                                      #1*5   block 1 was executed 5 times
 *   :1   block 1 begins, for block times
 *   f*9( enter f nine times, one in the other            )*9    leave nine frames, one by one
 *   kill the process dies now                            wait   continue for ever, by 1 ms
 *   still   wait for ever, without CPU time
 *   exit=3  the process ends with this status             stop, start  recording
 *   thread  the rest is played by another thread          f!(  f is a method without lines
 *   f?   f is known and not called                        @t   the context is t from now on
 *   f^(  the last line of f is 2147483647                 %3   three PC samples, for -pc
 *   =1:int:42:n  parameter 1 has this type, value and comment; 0: the result
 *   nap  the process sleeps for 0.3 s                     rmdir=d  the folder d is removed
 *   f~9  f is called nine times, for 1 us each
 *   sig=15  the process gets this signal                  for=FILE  wait until there is such a file
 *   own=15  the host handles this signal: it prints and ends with status 40
 *   [a   a request of the endpoint a begins               ]    it ends        ]!  it fails
 *   fork  a child plays the rest, and then the process itself does
 *   module=m, class=c  of the methods that are first mentioned from now on
 *   <(   enter native code                                crit, safe: a critical section
 * The k-th method that is mentioned (from 0) has the lines 10k+1, 10k+2, 10k+3 of score.src. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qprof.h"

enum { MOST_METHODS = 100 };

static uint64_t clock_ns = 1000000000;
static uintptr_t depth;
static const char *names[MOST_METHODS];
static size_t name_bytes[MOST_METHODS];
static unsigned n_methods;
static const char *class_name;

static uint64_t now(void)
{
    return clock_ns;
}

static qprof_MethodID method_named(const char *name, size_t n)
{
    for (unsigned i = 0; i < n_methods; i++)
        if (name_bytes[i] == n && memcmp(names[i], name, n) == 0)
            return i + 1;
    int line = (int)n_methods * 10 + 1;
    char *text = strndup(name, n);
    bool has_lines = name[n - 1] != '!', is_far = name[n - 1] == '^';
    qprof_LineInfo table[] = {{0, line}, {4, line + 1}, {8, is_far ? INT32_MAX : line + 2}};
    qprof_register_method_id(n_methods + 1, text, class_name, 0, has_lines ? "score.src" : NULL,
                             table, has_lines ? 3 : 0);
    free(text);
    names[n_methods] = name;
    name_bytes[n_methods] = n;
    return ++n_methods;
}

static void enter(const char *word)
{
    size_t n = strlen(word) - 1;
    const char *star = memchr(word, '*', n);
    unsigned long times = star ? strtoul(star + 1, NULL, 10) : 1;
    qprof_MethodID method = strcmp(word, "<(") == 0
                                ? QPROF_METHOD_NATIVE
                                : method_named(word, star ? (size_t)(star - word) : n);
    while (times-- > 0)
        qprof_record_fn_entry(method, ++depth);
}

static void leave(const char *word)
{
    unsigned long times = word[1] == '*' ? strtoul(word + 2, NULL, 10) : 1;
    while (times-- > 0)
        qprof_record_fn_exit(--depth);
}

static void call(const char *word, const char *tilde)
{
    qprof_MethodID method = method_named(word, (size_t)(tilde - word));
    for (unsigned long times = strtoul(tilde + 1, NULL, 10); times > 0; times--) {
        qprof_record_fn_entry(method, depth + 1);
        clock_ns += 1000;
        qprof_record_fn_exit(depth);
    }
}

static void tell_value(const char *word)
{
    char part[4][80] = {"", "", "", ""};
    sscanf(word, "=%79[^:]:%79[^:]:%79[^:]:%79[^:]", part[0], part[1], part[2], part[3]);
    if (atoi(part[0]))
        qprof_trace_parameter(atoi(part[0]), part[1], part[2], part[3]);
    else
        qprof_trace_result(part[1], part[2]);
}

static void handle(int number)
{
    (void)number;
    (void)!write(1, "handled\n", 8);
    _exit(40);
}

/* @return false: it is about something else */
static bool play_signal(const char *word)
{
    if (strncmp(word, "sig=", 4) == 0)
        raise(atoi(word + 4));
    else if (strncmp(word, "own=", 4) == 0)
        signal(atoi(word + 4), handle);
    else if (strncmp(word, "for=", 4) == 0)
        while (access(word + 4, F_OK) != 0)
            usleep(1000);
    else if (strcmp(word, "fork") == 0)
        waitpid(fork(), NULL, 0);
    else
        return false;
    return true;
}

/* @return the same */
static bool play_group(const char *word)
{
    if (strncmp(word, "module=", 7) == 0)
        qprof_set_module(word + 7);
    else if (strncmp(word, "class=", 6) == 0)
        class_name = word + 6;
    else
        return false;
    return true;
}

static void play(const char *word)
{
    const char *tilde = strchr(word, '~');
    if (play_signal(word) || play_group(word))
        return;
    if (word[strlen(word) - 1] == '(')
        enter(word);
    else if (tilde)
        call(word, tilde);
    else if (word[strlen(word) - 1] == '?')
        method_named(word, strlen(word) - 1);
    else if (word[0] == ')')
        leave(word);
    else if (word[0] == '[')
        qprof_request_begin(word + 1, (const unsigned char *)"0123456789abcdef", NULL);
    else if (word[0] == ']')
        qprof_request_end(word[1] == '!');
    else if (word[0] == '@')
        qprof_context(word + 1);
    else if (word[0] == '#')
        qprof_record_bb_counts(atoi(word + 1), strtoull(strchr(word, '*') + 1, NULL, 10));
    else if (word[0] == '=')
        tell_value(word);
    else if (word[0] == ':')
        qprof_record_bb_time(atoi(word + 1));
    else if (word[0] == '%')
        qprof_pc_sample((unsigned)atoi(word + 1));
    else if (strcmp(word, "crit") == 0)
        qprof_pc_enter_critical();
    else if (strcmp(word, "nap") == 0)
        usleep(300000);
    else if (strcmp(word, "safe") == 0)
        qprof_pc_leave_critical();
    else if (strcmp(word, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(word, "stop") == 0)
        qprof_stop_recording();
    else if (strcmp(word, "start") == 0)
        qprof_start_recording();
    else if (strncmp(word, "rmdir=", 6) == 0)
        rmdir(word + 6);
    else if (strncmp(word, "exit=", 5) == 0)
        exit(atoi(word + 5));
    else
        clock_ns += strtoull(word, NULL, 10) * 1000;
    while (strcmp(word, "still") == 0)
        pause();
    while (strcmp(word, "wait") == 0) {
        usleep(1000);
        clock_ns += 1000000;
        qprof_record_fn_entry(method_named("beat", 4), depth + 1);
        qprof_record_fn_exit(depth);
    }
}

/* @param words  ends with NULL */
static void *play_all(void *words)
{
    char **word = words;
    for (; *word && strcmp(*word, "thread") != 0; word++)
        play(*word);
    if (*word) {
        pthread_t other;
        pthread_create(&other, NULL, play_all, word + 1);
        pthread_join(other, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    for (; argc > 1 && strncmp(argv[1], "own=", 4) == 0; argv++, argc--)
        play_signal(argv[1]); /* before the recorder looks */
    qprof_set_clock(now);
    if (qprof_initialize("-program-name=score", NULL) != 0)
        return 99;
    play_all(argv + 1);
    qprof_shutdown();
    return 0;
}
