#!/bin/sh
# test_embedding.sh: the commands of each step of docs/embedding.md succeed with examples/minivm and its hooks, and those
# of a step fail when its hook is missing or wrong. The page says how its figures follow from the programs.
set -eu
for tool in jq patch; do
    command -v $tool >/dev/null || { echo "$tool is not installed; tests/run.sh installs it"; exit 77; }
done
unset QPROF
PATH=$QPROF_BIN:$PATH
mistakes=0
rm -rf steps
mkdir steps
cd steps
cp "$QPROF_SOURCE"/examples/minivm/* .
awk '/^```shell$/ { file = "step-" ++n; next } /^```$/ { file = "" } file { print >file }' \
    "$QPROF_SOURCE/docs/embedding.md"
mkdir bin
sh "$QPROF_SOURCE/stub/make.sh" stub.c
cat >bin/pkg-config <<END
#!/bin/sh
case "\$*" in
*--variable=stub*) echo "$PWD/stub.c" ;;
*--libs*) echo "-std=c11 -I$QPROF_SOURCE/include $QPROF_LIB/libqprof.a -pthread" ;;
*) echo "-I$QPROF_SOURCE/include" ;;
esac
END
chmod +x bin/pkg-config
PATH=$PWD/bin:$PATH

[ -f step-8 ] && [ ! -e step-9 ] || { echo "test_embedding.sh: not eight steps"; exit 1; }
for step in 1 2 3 4 5 6 7 8; do
    sh -e "step-$step" >out 2>&1 </dev/null || { echo "step $step fails:"; cat out; mistakes=1; }
done
cp minivm_profiled.c right.c

# wrong STEP TEXT SED...: with the mistake, the commands of the step fail
wrong() {
    step=$1
    text=$2
    shift 2
    sed "$@" right.c >wrong.c
    ! cmp -s right.c wrong.c || { echo "step $step, $text: nothing is changed"; mistakes=1; }
    # shellcheck disable=SC2046
    cc wrong.c $(pkg-config --libs) -o minivm || exit 1
    rm -f run.qprof* ./*.json
    if sh -e "step-$step" >out 2>&1 </dev/null; then
        echo "step $step, $text: is not found"
        mistakes=1
    fi
}

# of step 1, which compiles the patched machine itself
cp minivm.patch right.patch
sed 's/^+#include .*embed.h>/+#include <string.h>/' right.patch >minivm.patch
if sh -e step-1 >out 2>&1 </dev/null; then
    echo "step 1, without the header: is not found"
    mistakes=1
fi
wrong 2 "the VM is not closed" '/qprof_vm_close/d'
wrong 2 "the VM is not opened" '/qprof_vm_open/d'
wrong 3 "all have one name" 's/qprof_define(f->name/qprof_define("f"/'
wrong 4 "frames are not left" '/qprof_leave(.*n_frames\]/d'
wrong 4 "frames are not entered" 's/to->token = qprof_enter(.*/to->token = QPROF_NO_TOKEN;/'
wrong 5 "a caught error is not reported" '/qprof_unwind(.*n_frames - 1\]/d'
wrong 5 "a tail call is a call" '/qprof_leave(.*at->token/d'
wrong 6 "natives are not pushed" '/qprof_push(.*native_ids/d'
wrong 6 "the collector is not pushed" '/qprof_push(.*METHOD_GC/d'
wrong 7 "a resume does not switch" -e 's/qprof_stack \*from = .*/qprof_stack *from = \&m->running->stack;/'
wrong 7 "a yield does not switch" '/qprof_switch(&m->profile, from)/d'
wrong 8 "blocks are not counted" '/at->f->counters\[/s/++//'
wrong 8 "lines are off by one" 's/{i, f->code\[i\].line}/{i, f->code[i].line + 1}/'
exit $mistakes
