/* kinds.h: one good file of each kind that commands of the tool read, as a test's input. */
#ifndef QP_TESTS_KINDS_H
#define QP_TESTS_KINDS_H

/* Make them in the current folder, with a clock of the test's own:
 *     both.qprof adaptive.qprof rings.qprof sum.qprof   profiles; of two runs
 *     fleet.db                                          a store
 *     run.qtrace packed.qtrace.zst TABLE.PRF table.txt  traces
 *     callgrind.out pprof.pb.gz                         of other tools
 *     score marks.adjust good.conf kept.text            a source, its adjustments, a configuration, any text
 * The program must have the commands: qprof_commands_archive. */
void kinds_make(void);

/* Write a file. */
void kinds_write(const char *path, const char *text);

/* Run a command in a process of its own, words between blanks; it must succeed. */
void kinds_run(const char *line);

#endif
