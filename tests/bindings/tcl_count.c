/* tcl_count.c: an extension for an unpatched Tcl: an independent count of the calls of commands.
 *
 * Tcl's own trace of every command, with code compiled as usual, is set in the interpreter that loads it.
 * At exit a line for each command is added to the file TCL_COUNTS: name, tab, calls. */
#include <tcl.h>

#include <stdio.h>
#include <stdlib.h>

static Tcl_HashTable counts;

static int count(ClientData data, Tcl_Interp *interp, int level, const char *text,
                 Tcl_Command command, int objc, Tcl_Obj *const objv[])
{
    Tcl_Obj *name = Tcl_NewObj();
    int isNew;
    Tcl_HashEntry *at;
    (void)data, (void)level, (void)text, (void)objc, (void)objv;
    Tcl_IncrRefCount(name);
    Tcl_GetCommandFullName(interp, command, name);
    at = Tcl_CreateHashEntry(&counts, Tcl_GetString(name), &isNew);
    Tcl_SetHashValue(at, (ClientData)((isNew ? 0 : (size_t)Tcl_GetHashValue(at)) + 1));
    Tcl_DecrRefCount(name);
    return TCL_OK;
}

static void write_counts(ClientData data)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *at;
    FILE *out = fopen(getenv("TCL_COUNTS"), "a");
    (void)data;
    if (!out)
        return;
    for (at = Tcl_FirstHashEntry(&counts, &search); at; at = Tcl_NextHashEntry(&search))
        fprintf(out, "%s\t%zu\n", (const char *)Tcl_GetHashKey(&counts, at),
                (size_t)Tcl_GetHashValue(at));
    fclose(out);
}

int Tclcount_Init(Tcl_Interp *interp)
{
    if (!Tcl_InitStubs(interp, "8.6", 0))
        return TCL_ERROR;
    Tcl_InitHashTable(&counts, TCL_STRING_KEYS);
    Tcl_CreateObjTrace(interp, 0, TCL_ALLOW_INLINE_COMPILATION, count, NULL, NULL);
    Tcl_CreateExitHandler(write_counts, NULL);
    return TCL_OK;
}
