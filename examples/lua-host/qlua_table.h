/* qlua_table.h: included by luaV_execute after Lua's table of labels. The loop that tells the blocks of
 * samples jumps by a table that changes when samples wait; called without a state, it gives its labels. */
#if QLUA_LOOP == 7
#undef vmdispatch
#define vmdispatch(x) goto *qlua_dispatch[x];
if (l_unlikely(L == NULL)) {
    qlua_dispatch_open(disptab, &&asked);
    return;
}
#endif
