/* rule_parts.h: what the files of the rules share. */
#ifndef QP_RECORD_RULE_PARTS_H
#define QP_RECORD_RULE_PARTS_H

#include "base/pool.h"
#include "base/trie.h"
#include "config/match.h"
#include "record/rules.h"

/* What a member names, besides the kinds of qp_element_kind. */
enum { QP_MEMBER_ID = QP_ELEMENT_ROUTINE + 1 };

/* One name of a rule. A cell. */
typedef struct {
    uint32_t rule, next; /* the next of its rule */
    uint32_t same;       /* the next that is found by the same key */
    uint32_t text;       /* ref in the pool */
    uint32_t match;      /* cell of a qp_match; 0: literal, or an id */
    uint8_t kind;        /* qp_element_kind or QP_MEMBER_ID */
    uint8_t is_checked;
    uint8_t has_fitted; /* some method */
    uint8_t reserved;
    uint64_t id; /* of QP_MEMBER_ID; else the key: see qp_rules_key() */
} qp_member;

/* Those that name a method by a trigger or an action, in the order of the list. */
typedef struct {
    uint32_t n;
    uint32_t members[1];
} qp_hooks;

/* What is said of the predefined areas and of new threads. */
typedef struct {
    bool is_known, all_lines, all_routines, is_all_lines_said, is_initially_off;
} qp_rule_defaults;

/* All of this run's. Roots are blocks of tries: rules by name, members by key, hooks by method,
 * counters by thread and rule, methods by name; lists are cells of rules and members. */
typedef struct {
    qp_pool pool;
    uint32_t names, keys, methods, threads, named;
    uint32_t first, last;             /* rules, in the order of their making */
    uint32_t patterns;                /* members with a match, linked by same */
    uint32_t all_lines, all_routines; /* the predefined areas */
    uint32_t n_rules;
    uint64_t n_turns;   /* actions that enabled or disabled all threads */
    uint32_t is_warned; /* that profiling may be off for the whole run */
    bool is_initially_off, is_of_file;
    bool want_values;                 /* of parameters, by an area that is checked */
    bool are_named;                   /* all methods are found by their names: rule_names.c */
    bool is_all_lines_said;           /* somebody said whether all-lines is checked */
    qp_rule_defaults of_host, before; /* before the first file; before the one that is read */
} qp_rule_set;
extern qp_rule_set qp_rules;

static inline qp_rule *qp_rule_at(uint32_t cell)
{
    return qp_pool_at(&qp_rules.pool, cell);
}

static inline qp_member *qp_member_at(uint32_t cell)
{
    return qp_pool_at(&qp_rules.pool, cell);
}

/* What literal names are found by. */
uint64_t qp_rules_key(unsigned kind, const char *text);
uint64_t qp_rules_id_key(uint64_t id);
qp_trie qp_rules_members(void);

/* Is a trigger or an action checked that has a checked method? */
bool qp_rules_have_active(void);

/* ---- methods by name: rule_names.c ------------------------------------------------------------ */

/* The method is found by its id and names from now on. Threads: any. @return false: no memory */
bool qp_rules_name(qp_cell method);

/* A method that a literal member may fit, and where to go on. @param at  0 at first; 0 afterwards: no
 * more. @return 0: none */
qp_cell qp_rules_next_named(const qp_member *member, uint32_t *at);

/* @return NULL: nothing names the method */
const qp_hooks *qp_rules_hooks(qp_cell method);

#endif
