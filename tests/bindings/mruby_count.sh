# mruby_count.sh: make an unpatched mruby count its calls. Usage: mruby_count.sh TREE
set -eu
cp "$(dirname "$0")/mruby_count.c" "$1/src/count.c"
# The first two of the calls by MRB_PROC_CFUNC() are of methods, the others of blocks.
awk '
/^#include <mruby\/class.h>/ {
    print
    print "void mrb_count_c(mrb_state *mrb, int is_block);"
    print "#define CALL_C(f, is_block) (mrb_count_c(mrb, is_block), (f))"
    next
}
/MRB_PROC_CFUNC\([mp]\)\(mrb, / {
    block = n++ < 2 ? 0 : 1
    sub(/MRB_PROC_CFUNC\([mp]\)/, "CALL_C(&, " block ")")
}
{
    sub(/MRB_METHOD_C?FUNC\(m\)\(mrb, /, "CALL_C(&")
    sub(/p->body.func\(mrb, /, "CALL_C(&")
    if (sub(/CALL_C\(MRB_METHOD_CFUNC\(m\)\(mrb, /, "CALL_C(MRB_METHOD_CFUNC(m), 0)(mrb, ") ||
        sub(/CALL_C\(MRB_METHOD_FUNC\(m\)\(mrb, /, "CALL_C(MRB_METHOD_FUNC(m), 0)(mrb, ") ||
        sub(/CALL_C\(p->body.func\(mrb, /, "CALL_C(p->body.func, 0)(mrb, "))
        calls++
    print
}
END { exit n != 5 || calls != 5 }' "$1/src/vm.c" >"$1/src/vm.c.new"
mv "$1/src/vm.c.new" "$1/src/vm.c"
# As the recorder it begins when the core is there, and without what mrb_open() does for the gems.
sed -i '/^mrb_open_core(/,/^}/s/^  return mrb;/  void mrb_count_code(mrb_state *, const mrb_irep *, const mrb_code *, mrb_value *);\n  mrb->code_fetch_hook = mrb_count_code;\n&/' "$1/src/state.c"
sed -i '/^mrb_open_allocf(/,/^}/{
    s/^  if (mrb_core_init_protect/  void *hook = (void *)mrb->code_fetch_hook;\n  mrb->code_fetch_hook = NULL;\n&/
    s/^  mrb_gc_arena_restore/  *(void **)\&mrb->code_fetch_hook = hook;\n&/
}' "$1/src/state.c"
[ "$(grep -c code_fetch_hook "$1/src/state.c")" -eq 4 ]
