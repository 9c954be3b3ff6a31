# duktape_count.sh: make an unpatched Duktape count its calls. Usage: duktape_count.sh TREE
set -eu
cp "$(dirname "$0")/duktape_count.c" "$1/src/count.c"
awk '
/^DUK_LOCAL duk_int_t duk__handle_call_raw\(/ { print "#include \"count.c\""; is_in = 1 }
{ print }
is_in && /^\tDUK_ASSERT\(act != NULL\);$/ { print "\tcount_call(thr, func);"; is_in = 0; n++ }
END { exit n != 1 }' "$1/src/duktape.c" >"$1/src/duktape.c.new"
mv "$1/src/duktape.c.new" "$1/src/duktape.c"
