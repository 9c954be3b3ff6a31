/* tclProfile.h: what the patched Tcl calls. Guide: docs/embedding.md of qprof.
 *
 * All interpreters of a thread share a VM: they call each other on one C stack. Each coroutine is a
 * stack. While nothing is recorded, a call is a test of one pointer. */
#ifndef TCL_PROFILE_H
#define TCL_PROFILE_H

#include <qprof/embed.h>

struct Command;
struct CoroutineData;

typedef struct TclProfile {
    qprof_vm vm;
    int nInterps;
    Tcl_HashTable ids; /* by name, file and line */
} TclProfile;

void TclProfileOpen(Tcl_Interp *interp);
void TclProfileClose(Tcl_Interp *interp);
void TclProfileProgram(int argc, char **argv);
void TclProfileCommand(Tcl_Interp *interp, struct Command *cmdPtr);
void TclProfileBody(Tcl_Interp *interp);
void TclProfileCoroutineNew(TclProfile *profile, struct CoroutineData *corPtr);
void TclProfileCoroutineResume(TclProfile *profile, struct CoroutineData *corPtr);
void TclProfileCoroutineYield(TclProfile *profile, struct CoroutineData *corPtr);
void TclProfileCoroutineEnd(TclProfile *profile, struct CoroutineData *corPtr);

#endif
