/* qlua_loop.h: included before a further copy of lvm.c (see CMakeLists.txt), it gives all functions
 * of the copy names of their own. So the compiler treats each copy like the only one, and does not
 * change the plain loop. */
#if QLUA_LOOP == 1 /* reports calls */
#define QLUA_COPY(name) qlua_calls_##name
#define luaV_execute    qlua_execute_calls
#elif QLUA_LOOP == 2 /* asks at each entry and exit whether samples wait */
#define QLUA_COPY(name) qlua_polling_##name
#define luaV_execute    qlua_execute_polling
#elif QLUA_LOOP == 3 /* reports calls, counts entries and jumps */
#define QLUA_COPY(name) qlua_counting_##name
#define luaV_execute    qlua_execute_counting
#elif QLUA_LOOP == 4 /* only counts entries and jumps */
#define QLUA_COPY(name) qlua_coverage_##name
#define luaV_execute    qlua_execute_coverage
#elif QLUA_LOOP == 5 /* reports, counts where the gate is open */
#define QLUA_COPY(name) qlua_gated_##name
#define luaV_execute    qlua_execute_gated
#elif QLUA_LOOP == 6 /* only counts entries */
#define QLUA_COPY(name) qlua_functions_##name
#define luaV_execute    qlua_execute_functions
#elif QLUA_LOOP == 7 /* as 3, and tells the blocks of samples */
#define QLUA_COPY(name) qlua_sampled_##name
#define luaV_execute    qlua_execute_sampled
#endif

#define luaV_concat       QLUA_COPY(concat)
#define luaV_equalobj     QLUA_COPY(equalobj)
#define luaV_finishget    QLUA_COPY(finishget)
#define luaV_finishOp     QLUA_COPY(finishOp)
#define luaV_finishset    QLUA_COPY(finishset)
#define luaV_flttointeger QLUA_COPY(flttointeger)
#define luaV_idiv         QLUA_COPY(idiv)
#define luaV_lessequal    QLUA_COPY(lessequal)
#define luaV_lessthan     QLUA_COPY(lessthan)
#define luaV_mod          QLUA_COPY(mod)
#define luaV_modf         QLUA_COPY(modf)
#define luaV_objlen       QLUA_COPY(objlen)
#define luaV_shiftl       QLUA_COPY(shiftl)
#define luaV_tointeger    QLUA_COPY(tointeger)
#define luaV_tointegerns  QLUA_COPY(tointegerns)
#define luaV_tonumber_    QLUA_COPY(tonumber_)
