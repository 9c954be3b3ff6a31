/* patterns.c: worked results of call patterns, and random ones. */
#include "unit/patterns.h"

#include <stdint.h>
#include <stdio.h>

const pattern_result pattern_results[] = {
    {":$arymod.$findarraydscr", "u.main u.f $arymod.newarrayn $arymod.$findarraydscr",
     "$arymod.newarrayn"},
    {":$arymod.newarrayn->$arymod.$findarraydscr",
     "u.main $arymod.donewupperbound $arymod.newarrayn $arymod.$findarraydscr",
     "$arymod.donewupperbound"},
    {PATTERN_SEED, "m.a m.b m.x m.e m.q", "m.q"},
    {PATTERN_SEED, "m.c m.x m.e", "-"},
    {PATTERN_SEED, "m.c m.x m.d", "m.d"},
    {PATTERN_SEED, "m.c m.e m.z", "m.z"},
    {PATTERN_SEED, "m.a m.b m.d", "m.d"},
    {"m.a", "m.a m.b", "-"},
    {"m.a->m.b", "m.a m.x m.b", "-"},
    {"m.a->*->m.b", "m.a m.b", "m.b"},
    {"m.a->*", "m.a", "m.a"},
    {"m->*", "x.p m.q y.z", "y.z"},
    {"*", "", "foreignPcs"},
    {"m.a:->*", "m.a m.b m.a m.c", "m.a"},
    {"x->m:->n", "x.p m.p1 m.p2 n.q", "m.p2"},
    {"x->:m->n", "x.p m.p1 m.p2 n.q", "x.p"},
    {":m", "x.p m.p1 m.p2", "x.p"},
    {"m.p1->:m", "x.p m.p1 m.p2", "m.p1"},
    {":m.p:", "a.z m.p", "a.z"},
    {":m.p", "m.p", "foreignPcs"},
    {"m.z: | :m.b", "m.a m.b", "m.a"},
    {"m.a:->m.b: | m.b", "m.a m.b", "m.a"},
};
const size_t n_pattern_results = sizeof pattern_results / sizeof *pattern_results;

/* ---- random patterns --------------------------------------------------------------------- */

static uint64_t seed = 20261121;

unsigned pattern_pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

static void write_primary(char **at, int depth)
{
    unsigned kind = pattern_pick(depth > 0 ? 10 : 7);
    if (kind == 0) {
        *at += sprintf(*at, "*");
    } else if (kind < 7) {
        *at += sprintf(*at, "%s%c", pattern_pick(5) ? "" : ":", "mx"[pattern_pick(2)]);
        if (kind < 5)
            *at += sprintf(*at, ".%c", "ab"[pattern_pick(2)]);
        *at += sprintf(*at, "%s", pattern_pick(5) ? "" : ":");
    } else {
        *at += sprintf(*at, "(");
        pattern_write(at, depth - 1);
        *at += sprintf(*at, ")");
    }
}

void pattern_write(char **at, int depth)
{
    for (unsigned i = 0, n = 1 + pattern_pick(2); i < n; i++) {
        *at += sprintf(*at, "%s", i ? "|" : "");
        for (unsigned k = 0, length = 1 + pattern_pick(3); k < length; k++) {
            *at += sprintf(*at, "%s", k ? "->" : "");
            write_primary(at, depth);
        }
    }
}
