# tcl_wrap.tcl PROGRAM WORD...: counts by the extension of TCL_COUNT_LIBRARY, if it is set
if {[info exists env(TCL_COUNT_LIBRARY)]} { load $env(TCL_COUNT_LIBRARY) Tclcount }
set argv0 [lindex $argv 0]
set argv [lrange $argv 1 end]
source $argv0
