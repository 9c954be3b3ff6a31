/* tclProfile.c: names of commands, procedures and methods; frames and coroutines of the recorder. */
#include "tclCompile.h"
#include "tclInt.h"
#include "tclOOInt.h"

static Tcl_ThreadDataKey dataKey; /* a TclProfile * of each thread */

/* ---- open and close ---------------------------------------------------------------------- */

void TclProfileProgram(int argc, char **argv)
{
    int i = argc > 3 && strcmp(argv[1], "-encoding") == 0 ? 3 : 1;
    if (i < argc && argv[i][0] != '-')
        qprof_set_program(argv[i], argc - i - 1, (const char *const *)argv + i + 1,
                          "Tcl " TCL_PATCH_LEVEL);
}

void TclProfileOpen(Tcl_Interp *interp)
{
    TclProfile **of = (TclProfile **)Tcl_GetThreadData(&dataKey, sizeof *of);
    TclProfile *profile = *of;
    ((Interp *)interp)->profile = NULL;
    if (!profile) {
        profile = (TclProfile *)ckalloc(sizeof *profile);
        memset(profile, 0, sizeof *profile);
        if (qprof_vm_open(&profile->vm, NULL) <= 0) {
            ckfree(profile);
            return;
        }
        Tcl_InitHashTable(&profile->ids, TCL_STRING_KEYS);
        qprof_begin(&profile->vm.main);
        *of = profile;
    }
    profile->nInterps++;
    ((Interp *)interp)->profile = profile;
}

/* The interpreter is deleted. The run ends with the last one of the last thread, or with the process. */
void TclProfileClose(Tcl_Interp *interp)
{
    TclProfile **of = (TclProfile **)Tcl_GetThreadData(&dataKey, sizeof *of);
    TclProfile *profile = ((Interp *)interp)->profile;
    ((Interp *)interp)->profile = NULL;
    if (!profile || --profile->nInterps > 0)
        return;
    *of = NULL;
    qprof_vm_close(&profile->vm);
    Tcl_DeleteHashTable(&profile->ids);
    ckfree(profile);
}

/* ---- names ------------------------------------------------------------------------------- */

static qprof_MethodID define(Interp *iPtr, Tcl_Obj *name, const Proc *procPtr)
{
    Tcl_HashEntry *at =
        procPtr ? Tcl_FindHashEntry(iPtr->linePBodyPtr, (const char *)procPtr) : NULL;
    const CmdFrame *body = at ? (const CmdFrame *)Tcl_GetHashValue(at) : NULL;
    const char *file = "";
    int line = 0, isNew;
    Tcl_DString key;
    char number[TCL_INTEGER_SPACE];

    if (body && body->type == TCL_LOCATION_SOURCE) {
        file = Tcl_GetString(body->data.eval.path);
        line = body->line[0];
    }
    sprintf(number, "%d", line);
    Tcl_DStringInit(&key);
    Tcl_DStringAppend(&key, Tcl_GetString(name), -1);
    Tcl_DStringAppend(&key, "\n", 1);
    Tcl_DStringAppend(&key, file, -1);
    Tcl_DStringAppend(&key, "\n", 1);
    Tcl_DStringAppend(&key, number, -1);
    at = Tcl_CreateHashEntry(&iPtr->profile->ids, Tcl_DStringValue(&key), &isNew);
    if (isNew) {
        qprof_LineInfo declared = {0, line};
        Tcl_SetHashValue(at, (ClientData)qprof_define(Tcl_GetString(name), NULL, file,
                                                      line ? &declared : NULL, line ? 1 : 0));
    }
    Tcl_DStringFree(&key);
    return (qprof_MethodID)Tcl_GetHashValue(at);
}

/* Coroutines and objects have commands that the program makes, any number of them: they are named by what
 * they are. */
static qprof_MethodID defineCommand(Interp *iPtr, Command *cmdPtr)
{
    Tcl_Obj *name = Tcl_NewObj();
    const Proc *procPtr = NULL;
    const Object *oPtr = TclProfileObject(cmdPtr);
    qprof_MethodID id;

    Tcl_IncrRefCount(name);
    if (cmdPtr->nreProc == TclNRInterpCoroutine) {
        Tcl_AppendToObj(name, "resume of a coroutine", -1);
    } else if (oPtr && (!oPtr->classPtr || (Tcl_Command)cmdPtr != oPtr->command)) {
        const Object *class = oPtr->selfCls ? oPtr->selfCls->thisPtr : NULL;
        Tcl_AppendToObj(name, (Tcl_Command)cmdPtr == oPtr->command ? "object of " : "my of ",
                        -1);
        if (class && class->command)
            Tcl_GetCommandFullName((Tcl_Interp *)iPtr, class->command, name);
    } else {
        Tcl_GetCommandFullName((Tcl_Interp *)iPtr, (Tcl_Command)cmdPtr, name);
        if (cmdPtr->deleteProc == TclProcDeleteProc)
            procPtr = (const Proc *)cmdPtr->objClientData;
    }
    id = define(iPtr, name, procPtr);
    Tcl_DecrRefCount(name);
    return id;
}

/* Of the frame that was pushed: a lambda, or a method that is written in Tcl. */
static qprof_MethodID defineBody(Interp *iPtr)
{
    const CallFrame *framePtr = iPtr->varFramePtr;
    Tcl_Obj *name = Tcl_NewObj();
    qprof_MethodID id;

    Tcl_IncrRefCount(name);
    if (framePtr->isProcCallFrame & FRAME_IS_METHOD) {
        const CallContext *context = (const CallContext *)framePtr->clientData;
        const Method *method = context->callPtr->chain[context->index].mPtr;
        const Object *owner = method->declaringClassPtr ? method->declaringClassPtr->thisPtr
                                                        : method->declaringObjectPtr;
        if (owner && owner->command)
            Tcl_GetCommandFullName((Tcl_Interp *)iPtr, owner->command, name);
        if (context->callPtr->flags & CONSTRUCTOR) {
            Tcl_AppendToObj(name, " constructor", -1);
        } else if (context->callPtr->flags & DESTRUCTOR) {
            Tcl_AppendToObj(name, " destructor", -1);
        } else {
            Tcl_AppendToObj(name, " ", 1);
            Tcl_AppendObjToObj(name, method->namePtr);
        }
    } else {
        Tcl_AppendToObj(name, "lambda", -1);
    }
    id = define(iPtr, name, framePtr->procPtr);
    Tcl_DecrRefCount(name);
    return id;
}

/* ---- calls ------------------------------------------------------------------------------- */

static int leave(ClientData data[], Tcl_Interp *interp, int result)
{
    TclProfile *profile = ((Interp *)interp)->profile;
    if (profile)
        qprof_leave(profile->vm.running, (qprof_token)data[0]);
    return result;
}

/* What the callback that the caller adds next executes is a call; it ends when all that it adds has. */
static void enter(Tcl_Interp *interp, qprof_MethodID id)
{
    qprof_stack *stack = ((Interp *)interp)->profile->vm.running;
    qprof_token token = qprof_enter(stack, qprof_top(stack), id);
    TclNRAddCallback(interp, leave, (ClientData)token, NULL, NULL, NULL);
}

void TclProfileCommand(Tcl_Interp *interp, Command *cmdPtr)
{
    if (!cmdPtr->profileId) {
        uint64_t begun = qprof_work_begin();
        cmdPtr->profileId = defineCommand((Interp *)interp, cmdPtr);
        qprof_work_end(begun);
    }
    enter(interp, cmdPtr->profileId);
}

void TclProfileBody(Tcl_Interp *interp)
{
    Interp *iPtr = (Interp *)interp;
    Proc *procPtr = iPtr->varFramePtr->procPtr;
    if (!procPtr->profileId) {
        uint64_t begun = qprof_work_begin();
        procPtr->profileId = defineBody(iPtr);
        qprof_work_end(begun);
    }
    enter(interp, procPtr->profileId);
}

/* ---- coroutines -------------------------------------------------------------------------- */

void TclProfileCoroutineNew(TclProfile *profile, CoroutineData *corPtr)
{
    corPtr->profileCaller = NULL;
    if (profile)
        qprof_stack_create(&corPtr->profileStack, profile->vm.running);
    else
        qprof_stack_new(&corPtr->profileStack);
}

void TclProfileCoroutineResume(TclProfile *profile, CoroutineData *corPtr)
{
    if (profile)
        corPtr->profileCaller = qprof_switch(&profile->vm, &corPtr->profileStack);
}

void TclProfileCoroutineYield(TclProfile *profile, CoroutineData *corPtr)
{
    if (profile && corPtr->profileCaller)
        qprof_switch(&profile->vm, corPtr->profileCaller);
}

void TclProfileCoroutineEnd(TclProfile *profile, CoroutineData *corPtr)
{
    if (!profile || !corPtr->profileCaller)
        return;
    qprof_stack_end(&profile->vm, &corPtr->profileStack);
    qprof_switch(&profile->vm, corPtr->profileCaller);
}
