/* module.c: the functions of Qprof::Recorder, which the module Qprof calls (lib/qprof.rb). */
#include "recorder.h"

#include <string.h>

recorder_state recorder;

static VALUE answer(int is_so)
{
    return is_so ? Qtrue : Qfalse;
}

static const char *text_or_null(VALUE *text)
{
    return NIL_P(*text) ? NULL : StringValueCStr(*text);
}

/* What Ruby code that ran for us has raised is the program's. */
static void pass_pending(void)
{
    int state = recorder.pending;
    recorder.pending = 0;
    if (state)
        rb_jump_tag(state);
}

/* Begin a run. @param begins_with  a file: with its code; labels of frames: with what is open; else with neither.
 * @return an error; nil: a run is on; false: none was asked for */
static VALUE start(VALUE self, VALUE options, VALUE begins_with, VALUE counts_lines)
{
    const char *text = text_or_null(&options);
    const char *main_file =
        RB_TYPE_P(begins_with, RUBY_T_STRING) ? StringValueCStr(begins_with) : NULL;
    (void)self;
    if (recorder.is_on)
        return rb_str_new_cstr("qprof is recording already");
    int opened = qprof_vm_open(&recorder.vm, text);
    if (opened < 0)
        return rb_str_new_cstr(qprof_error_text());
    if (!opened)
        return Qfalse;
    recorder.run++;
    recorder.changes = qprof_changes()[0];
    recorder.wants = qprof_wants();
    recorder.is_recording = (char)qprof_is_recording();
    recorder.has_calls = !(recorder.wants & QPROF_WANT_ALONE);
    recorder.has_lines = RTEST(counts_lines) || (recorder.wants & QPROF_WANT_COVERAGE);
    recorder.is_forked = 0;
    methods_begin_run();
    lines_begin_run();
    calls_forget_running();
    if (recorder.has_calls)
        calls_measure(rb_path2class("Qprof::Cost"));
    recorder.is_on = 1;
    if (main_file)
        calls_open_main(main_file);
    else if (RB_TYPE_P(begins_with, RUBY_T_ARRAY))
        calls_open_frames(begins_with);
    calls_hook();
    pass_pending();
    return Qnil;
}

/* The events end, and the run does not yet. */
static VALUE unhook(VALUE self)
{
    (void)self;
    if (recorder.is_on) {
        calls_unhook();
        calls_close_all();
    }
    return Qnil;
}

static VALUE stop(VALUE self)
{
    unhook(self);
    if (recorder.is_on)
        qprof_vm_close(&recorder.vm);
    recorder.is_on = 0;
    return Qnil;
}

static VALUE is_running(VALUE self)
{
    (void)self;
    return answer(recorder.is_on && qprof_is_running());
}

static VALUE is_recording(VALUE self)
{
    (void)self;
    return answer(recorder.is_on && qprof_is_recording());
}

static VALUE pause_run(VALUE self)
{
    (void)self;
    int is_changed = qprof_stop_recording();
    recorder.is_recording = (char)qprof_is_recording();
    return answer(is_changed);
}

static VALUE resume_run(VALUE self)
{
    (void)self;
    int is_changed = qprof_start_recording();
    recorder.is_recording = (char)qprof_is_recording();
    return answer(is_changed);
}

static VALUE snapshot(VALUE self, VALUE file)
{
    const char *name = text_or_null(&file);
    (void)self;
    return answer(name ? qprof_save_data_to_file(name) : qprof_save_data());
}

static VALUE context(VALUE self, VALUE name)
{
    const char *text = text_or_null(&name);
    (void)self;
    return answer(qprof_context(text) == 0);
}

static VALUE enter_request(VALUE self, VALUE endpoint, VALUE traceparent)
{
    const char *name = StringValueCStr(endpoint), *header = text_or_null(&traceparent);
    (void)self;
    calls_enter_request(name, header);
    return Qnil;
}

static VALUE leave_request(VALUE self, VALUE has_failed)
{
    (void)self;
    calls_leave_request(RTEST(has_failed));
    return Qnil;
}

static VALUE mark(VALUE self, VALUE text)
{
    const char *note = StringValueCStr(text);
    (void)self;
    qprof_add_annotation(note);
    return Qnil;
}

static VALUE set_program(VALUE self, VALUE script, VALUE arguments, VALUE host)
{
    const char *words[256], *name = text_or_null(&script), *runtime = StringValueCStr(host);
    int n = 0;
    (void)self;
    for (long i = 0; i < RARRAY_LEN(arguments) && n < 256; i++) {
        VALUE word = RARRAY_AREF(arguments, i);
        if (RB_TYPE_P(word, RUBY_T_STRING) &&
            !memchr(RSTRING_PTR(word), 0, (size_t)RSTRING_LEN(word)))
            words[n++] = StringValueCStr(word);
    }
    qprof_set_program(name, n, words, runtime);
    return Qnil;
}

static VALUE option(VALUE self, VALUE name)
{
    const char *text = qprof_get_option(StringValueCStr(name));
    (void)self;
    return text ? rb_str_new_cstr(text) : Qnil;
}

static VALUE wants_lines(VALUE self)
{
    (void)self;
    return answer((recorder.wants & QPROF_WANT_LINES) != 0);
}

static VALUE configure(VALUE self, VALUE folder, VALUE chooser)
{
    methods_set_own(folder, self);
    lines_set_chooser(chooser);
    return Qnil;
}

static VALUE nothing(VALUE self)
{
    (void)self;
    return Qnil;
}

RUBY_FUNC_EXPORTED void Init_recorder(void);

RUBY_FUNC_EXPORTED void Init_recorder(void)
{
    VALUE qprof = rb_define_module("Qprof");
    VALUE module = rb_define_module_under(qprof, "Recorder");
    if (!calls_open())
        rb_raise(rb_eLoadError, "qprof: this Ruby has other events than those that are known");
    methods_open();
    lines_open();
    rb_define_singleton_method(module, "start", start, 3);
    rb_define_singleton_method(module, "unhook", unhook, 0);
    rb_define_singleton_method(module, "stop", stop, 0);
    rb_define_singleton_method(module, "running?", is_running, 0);
    rb_define_singleton_method(module, "recording?", is_recording, 0);
    rb_define_singleton_method(module, "pause", pause_run, 0);
    rb_define_singleton_method(module, "resume", resume_run, 0);
    rb_define_singleton_method(module, "snapshot", snapshot, 1);
    rb_define_singleton_method(module, "context", context, 1);
    rb_define_singleton_method(module, "enter_request", enter_request, 2);
    rb_define_singleton_method(module, "leave_request", leave_request, 1);
    rb_define_singleton_method(module, "mark", mark, 1);
    rb_define_singleton_method(module, "set_program", set_program, 3);
    rb_define_singleton_method(module, "option", option, 1);
    rb_define_singleton_method(module, "wants_lines?", wants_lines, 0);
    rb_define_singleton_method(module, "configure", configure, 2);
    rb_define_singleton_method(module, "add_file", lines_add_file, 1);
    rb_define_singleton_method(module, "nothing", nothing, 0);
    rb_define_const(qprof, "VERSION", rb_str_freeze(rb_str_new_cstr(qprof_version())));
}
