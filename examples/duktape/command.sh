# command.sh: compiles Duktape's command in its tree, which is the working folder: command.sh OUTPUT [OPTION...]
set -eu
output=$1
shift
gcc -O2 -std=c99 -Isrc -Iexamples/cmdline -Iextras/print-alert -Iextras/console -Iextras/logging -Iextras/module-duktape \
    -DDUK_CMDLINE_PRINTALERT_SUPPORT -DDUK_CMDLINE_CONSOLE_SUPPORT -DDUK_CMDLINE_LOGGING_SUPPORT -DDUK_CMDLINE_MODULE_SUPPORT \
    src/duktape.c examples/cmdline/duk_cmdline.c extras/print-alert/duk_print_alert.c extras/console/duk_console.c \
    extras/logging/duk_logging.c extras/module-duktape/duk_module_duktape.c "$@" -lm -o "$output"
