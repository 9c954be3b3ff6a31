/* module.c: the extension qprof: its settings, when a run begins and ends, and its functions. */
#include "recorder.h"

#include <SAPI.h>
#include <ext/spl/spl_exceptions.h>
#include <ext/standard/info.h>
#include <zend_exceptions.h>
#include <zend_smart_str.h>

recorder_state recorder;

/* ---- options ----------------------------------------------------------------------------- */

PHP_INI_BEGIN()
PHP_INI_ENTRY("qprof.options", "", PHP_INI_SYSTEM, NULL)
PHP_INI_ENTRY("qprof.lines", "0", PHP_INI_SYSTEM, NULL)
PHP_INI_END()

static int is_command_line(void)
{
    return strcmp(sapi_module.name, "cli") == 0 || strcmp(sapi_module.name, "phpdbg") == 0;
}

static const char *script_name(void)
{
    const char *script = SG(request_info).path_translated;
    return is_command_line() && script && *script ? script : NULL;
}

static void add_quoted(smart_str *text, const char *value)
{
    smart_str_appendc(text, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            smart_str_appendc(text, '\\');
        smart_str_appendc(text, *value);
    }
    smart_str_appendc(text, '"');
}

/* ["output" => "run.qprof", "open_frames" => false] as options. */
static void add_options(smart_str *text, HashTable *options, int *has_open_frames,
                        int *counts_lines)
{
    zend_string *name;
    zval *value;
    ZEND_HASH_FOREACH_STR_KEY_VAL(options, name, value)
    {
        ZVAL_DEREF(value);
        if (!name)
            continue;
        if (zend_string_equals_literal(name, "open_frames")) {
            *has_open_frames = zend_is_true(value);
            continue;
        }
        if (zend_string_equals_literal(name, "lines")) {
            *counts_lines = zend_is_true(value);
            continue;
        }
        smart_str_appends(text, " -");
        for (const char *letter = ZSTR_VAL(name); *letter; letter++)
            smart_str_appendc(text, (char)(*letter == '_' ? '-' : *letter));
        smart_str_appendc(text, '=');
        if (Z_TYPE_P(value) == IS_TRUE || Z_TYPE_P(value) == IS_FALSE) {
            smart_str_appends(text, Z_TYPE_P(value) == IS_TRUE ? "yes" : "no");
        } else {
            zend_string *as_text = zval_get_string(value);
            add_quoted(text, ZSTR_VAL(as_text));
            zend_string_release(as_text);
        }
    }
    ZEND_HASH_FOREACH_END();
}

/* ---- a run ------------------------------------------------------------------------------- */

static void name_program(void)
{
    const char *words[64];
    int n = 0;
    if (is_command_line()) {
        for (int i = 1; i < SG(request_info).argc && n < 64; i++)
            words[n++] = SG(request_info).argv[i];
    }
    qprof_set_program(script_name(), n, words, "PHP " PHP_VERSION);
}

/* @param caller        as for calls_begin()
 * @param counts_lines  also without coverage
 * @return 1: a run is on; 0: the library has an error text */
static int begin(const char *options, zend_execute_data *caller, int counts_lines)
{
    name_program();
    if (qprof_vm_open(&recorder.vm, options) <= 0)
        return 0;
    recorder.run++;
    recorder.is_on = 1;
    recorder.changes = qprof_changes();
    recorder.wants = qprof_wants();
    recorder.has_calls = !(recorder.wants & QPROF_WANT_ALONE);
    recorder.has_lines = counts_lines || (recorder.wants & QPROF_WANT_COVERAGE);
    if (recorder.has_lines) {
        cover_begin();
        lines_begin();
        lines_register(0, 0);
    }
    calls_begin(caller);
    return 1;
}

static void end(void)
{
    if (!recorder.is_on)
        return;
    lines_end_request();
    calls_end();
    recorder.is_on = recorder.of_request = recorder.has_lines = 0;
    qprof_vm_close(&recorder.vm);
}

/* The run that the environment or an ini file asks for begins with the first request of the process, so
 * that each worker of a server has its own. */
static void begin_of_process(void)
{
    const char *variable = secure_getenv(qprof_environment());
    const char *setting = INI_STR("qprof.options");
    smart_str text = {0};
    if (recorder.is_on || recorder.has_failed ||
        ((!variable || !*variable) && (!setting || !*setting)))
        return;
    if (script_name())
        smart_str_appends(&text, "-filename-prefix=%s.%p ");
    smart_str_appends(&text, setting ? setting : "");
    smart_str_appendc(&text, ' ');
    smart_str_appends(&text, variable ? variable : "");
    smart_str_0(&text);
    if (!begin(ZSTR_VAL(text.s), NULL, INI_BOOL("qprof.lines"))) {
        recorder.has_failed = 1;
        if (!variable || !*variable) /* else the recorder has printed it */
            fprintf(stderr, "qprof: %s: nothing is recorded\n", qprof_error_text());
    }
    smart_str_free(&text);
}

/* ---- functions --------------------------------------------------------------------------- */

PHP_FUNCTION(qprof_start)
{
    HashTable *options = NULL;
    zend_string *options_text = NULL;
    smart_str text = {0};
    int has_open_frames = 1, counts_lines = 0;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_ARRAY_HT_OR_STR(options, options_text)
    ZEND_PARSE_PARAMETERS_END();
    if (recorder.is_on) {
        zend_throw_exception(spl_ce_RuntimeException, "qprof is recording already", 0);
        RETURN_THROWS();
    }
    if (options)
        add_options(&text, options, &has_open_frames, &counts_lines);
    else if (options_text)
        smart_str_append(&text, options_text);
    smart_str_appendc(&text, ' ');
    smart_str_0(&text);
    if (!EG(exception)) {
        recorder.of_request = 1;
        if (!begin(ZSTR_VAL(text.s), has_open_frames ? execute_data->prev_execute_data : NULL,
                   counts_lines))
            zend_throw_exception(spl_ce_RuntimeException, qprof_error_text(), 0);
    }
    smart_str_free(&text);
}

PHP_FUNCTION(qprof_stop)
{
    ZEND_PARSE_PARAMETERS_NONE();
    end();
}

PHP_FUNCTION(qprof_running)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(recorder.is_on && qprof_is_running());
}

PHP_FUNCTION(qprof_recording)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(qprof_is_recording());
}

PHP_FUNCTION(qprof_pause)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(qprof_stop_recording());
}

PHP_FUNCTION(qprof_resume)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_BOOL(qprof_start_recording());
}

PHP_FUNCTION(qprof_snapshot)
{
    char *file = NULL;
    size_t n;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_PATH_OR_NULL(file, n)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL(file ? qprof_save_data_to_file(file) : qprof_save_data());
}

PHP_FUNCTION(qprof_context)
{
    char *name = NULL;
    size_t n;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_STRING_OR_NULL(name, n)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_BOOL(qprof_context(name) == 0);
}

/* Does the exception end the program, or a fiber that is left? */
static int is_exit(const zend_object *exception)
{
    return zend_is_unwind_exit(exception) || zend_is_graceful_exit(exception);
}

PHP_FUNCTION(qprof_request)
{
    char *endpoint, *traceparent = NULL;
    size_t n;
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    zval result;
    ZEND_PARSE_PARAMETERS_START(3, -1)
    Z_PARAM_STRING(endpoint, n)
    Z_PARAM_STRING_OR_NULL(traceparent, n)
    Z_PARAM_FUNC(call, cache)
    Z_PARAM_VARIADIC_WITH_NAMED(call.params, call.param_count, call.named_params)
    ZEND_PARSE_PARAMETERS_END();
    int is_begun = recorder.is_on && recorder.has_calls;
    if (is_begun)
        qprof_enter_request(recorder.running->stack, endpoint, traceparent);
    call.retval = &result;
    if (zend_call_function(&call, &cache) == SUCCESS && Z_TYPE(result) != IS_UNDEF) {
        if (Z_ISREF(result))
            zend_unwrap_reference(&result);
        ZVAL_COPY_VALUE(return_value, &result);
    }
    if (is_begun && recorder.is_on)
        qprof_leave_request(recorder.running->stack, EG(exception) && !is_exit(EG(exception)));
}

PHP_FUNCTION(qprof_mark)
{
    char *text;
    size_t n;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STRING(text, n)
    ZEND_PARSE_PARAMETERS_END();
    qprof_add_annotation(text);
}

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(takes_options, 0, 0, IS_VOID, 0)
ZEND_ARG_TYPE_MASK(0, options, MAY_BE_ARRAY | MAY_BE_STRING, "\"\"")
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(does, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(answers, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(takes_file, 0, 0, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, file, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(takes_name, 0, 0, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, name, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(takes_text, 0, 1, IS_VOID, 0)
ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(takes_request, 0, 3, IS_MIXED, 0)
ZEND_ARG_TYPE_INFO(0, endpoint, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, traceparent, IS_STRING, 1)
ZEND_ARG_TYPE_INFO(0, function, IS_CALLABLE, 0)
ZEND_ARG_VARIADIC_TYPE_INFO(0, arguments, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define FUNCTION(name, arguments)                                                              \
    {                                                                                          \
#name, ZEND_FN(name), arguments, sizeof arguments / sizeof *arguments - 1, 0           \
    }

static const zend_function_entry functions[] = {FUNCTION(qprof_context, takes_name),
                                                FUNCTION(qprof_mark, takes_text),
                                                FUNCTION(qprof_pause, answers),
                                                FUNCTION(qprof_recording, answers),
                                                FUNCTION(qprof_request, takes_request),
                                                FUNCTION(qprof_resume, answers),
                                                FUNCTION(qprof_running, answers),
                                                FUNCTION(qprof_snapshot, takes_file),
                                                FUNCTION(qprof_start, takes_options),
                                                FUNCTION(qprof_stop, does),
                                                ZEND_FE_END};

/* ---- the module -------------------------------------------------------------------------- */

static PHP_MINIT_FUNCTION(qprof)
{
    (void)type;
    REGISTER_INI_ENTRIES();
    calls_open();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(qprof)
{
    (void)type;
    end();
    calls_close();
    functions_free();
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(qprof)
{
    (void)type;
    (void)module_number;
    if (php_during_module_startup())
        return SUCCESS; /* opcache preloads */
    calls_reset();
    if (recorder.has_lines)
        lines_begin();
    begin_of_process();
    return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(qprof)
{
    (void)type;
    (void)module_number;
    lines_end_request();
    return SUCCESS;
}

/* After the destructors and shutdown functions of the request. */
static ZEND_MODULE_POST_ZEND_DEACTIVATE_D(qprof)
{
    calls_reset();
    if (recorder.of_request)
        end();
    lines_reset();
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(qprof)
{
    (void)zend_module;
    php_info_print_table_start();
    php_info_print_table_row(2, "qprof", qprof_version());
    php_info_print_table_row(2, "recording", qprof_is_recording() ? "yes" : "no");
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

zend_module_entry qprof_module_entry = {STANDARD_MODULE_HEADER,
                                        "qprof",
                                        functions,
                                        PHP_MINIT(qprof),
                                        PHP_MSHUTDOWN(qprof),
                                        PHP_RINIT(qprof),
                                        PHP_RSHUTDOWN(qprof),
                                        PHP_MINFO(qprof),
                                        "0.2.0",
                                        NO_MODULE_GLOBALS,
                                        ZEND_MODULE_POST_ZEND_DEACTIVATE_N(qprof),
                                        STANDARD_MODULE_PROPERTIES_EX};

ZEND_GET_MODULE(qprof)
