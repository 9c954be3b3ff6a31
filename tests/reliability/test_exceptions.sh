#!/bin/sh
# test_exceptions.sh: a C++ host whose actions, conditions and callbacks throw: the exception passes
# through the library to its handler, and events continue as if the action had returned.
set -eu
cxx=${CXX:-c++}
command -v "$cxx" >/dev/null || {
    echo "a C++ compiler is missing (g++)"
    exit 77
}
cat >host.cc <<'END'
#include <cstdio>
#include <stdexcept>

#include "qprof.h"

static int failed;

static void claim(bool is_true, const char *what)
{
    if (!is_true)
        std::printf("not so: %s\n", what), failed = 1;
}

static int throws(intptr_t)
{
    throw std::runtime_error("of an action");
}

static int asks()
{
    throw std::runtime_error("of a condition");
}

static qprof_TrgID add(qprof_event_t event, qprof_TrgFunc function, void *condition, int once,
                       qprof_TrgID chain)
{
    return qprof_trg_add(event, QPROF_TRG_ENABLE, QPROF_TRG_CTX_ANY, 0, 0,
                         condition ? QPROF_TRG_COND_YES : QPROF_TRG_COND_NO,
                         QPROF_TRG_COND_FUNC, condition, QPROF_TRG_EQ, 1, once, chain,
                         function ? QPROF_TRG_ACT_FUNC : QPROF_TRG_ACT_NONE, function, 0, 0);
}

static uint64_t hits(qprof_TrgID t)
{
    qprof_TrgInfo info;
    return qprof_trg_get(t, &info) == 0 ? info.hits : 999;
}

template <typename F> static bool is_thrown(F f)
{
    try {
        f();
    } catch (const std::runtime_error &) {
        return true;
    }
    return false;
}

int main()
{
    qprof_initialize("-output=run.qprof", nullptr);
    qprof_register_method_id(1, "f", nullptr, 0, nullptr, nullptr, 0);
    qprof_record_fn_entry(1, 10);
    qprof_TrgID quiet = add(QPROF_EV_USER_FIRST + 9, nullptr, nullptr, 0, nullptr);
    qprof_TrgID next = add(QPROF_EV_USER_FIRST + 1, nullptr, nullptr, 0, nullptr);
    qprof_trg_disable(next);
    qprof_trg_on();

    qprof_TrgID once = add(QPROF_EV_USER_FIRST, throws, nullptr, 1, next);
    claim(is_thrown([] { qprof_trg_event(QPROF_EV_USER_FIRST); }), "trg_event throws");
    qprof_trg_event(QPROF_EV_USER_FIRST + 1);
    claim(hits(next) == 1, "the chain continues");
    claim(!is_thrown([] { qprof_trg_event(QPROF_EV_USER_FIRST); }), "once is once");
    claim(hits(once) == 1, "one hit");

    add(QPROF_EV_USER_FIRST + 2, nullptr, (void *)asks, 0, nullptr);
    claim(is_thrown([] { qprof_user_event(QPROF_EV_USER_FIRST + 2); }), "a condition throws");

    struct {
        qprof_event_t event;
        void (*raise)();
        const char *what;
    } places[] = {
        {QPROF_EV_FN_ENTRY, [] { qprof_record_fn_entry(1, 20); }, "an entry throws"},
        {QPROF_EV_FN_EXIT, [] { qprof_record_fn_exit(10); }, "an exit throws"},
        {QPROF_EV_SAVE, [] { qprof_save_data(); }, "a save throws"},
        {QPROF_EV_CLEAR, [] { qprof_clear_data(); }, "a clear throws"},
        {QPROF_EV_COUNTS, [] { qprof_record_counts(1); }, "counts throw"},
        {QPROF_EV_METHOD_REGISTER,
         [] { qprof_register_method_id(2, "g", nullptr, 0, nullptr, nullptr, 0); },
         "a registration throws"},
        {QPROF_EV_THREAD_DESTROY,
         [] {
             qprof_thread_create(5); /* the one that is known by its events */
             qprof_thread_destroy(5);
         },
         "a thread's end throws"},
        {QPROF_EV_THREAD_CREATE, [] { qprof_thread_create(6); }, "a thread throws"},
    };
    for (auto &place : places) {
        qprof_TrgID t = add(place.event, throws, nullptr, 1, nullptr);
        claim(is_thrown(place.raise), place.what);
        claim(hits(t) == 1, place.what);
        qprof_trg_event(QPROF_EV_USER_FIRST + 9);
        claim(qprof_trg_enable(t) == 0 && qprof_trg_delete(t) == 0, place.what);
    }
    claim(hits(quiet) == 8, "events continue");

    qprof_register_method_id(3, "t", nullptr, 0, nullptr, nullptr, 0);
    qprof_record_fn_entry(1, 10);
    qprof_trigger *off = qprof_trigger_create("off", QPROF_TRIGGER_OFF);
    qprof_action *get = qprof_action_create("get", QPROF_ACTION_GET_RESULTS, QPROF_ON_ENTER);
    claim(qprof_trigger_add_method(off, 3, 1) == 0, "a trigger");
    claim(qprof_action_add_method(get, 3, 1) == 0, "an action");
    for (qprof_event_t event : {QPROF_EV_STATUS, QPROF_EV_SAVE}) {
        add(event, throws, nullptr, 1, nullptr);
        claim(is_thrown([] { qprof_record_fn_entry(3, 30); }), "what a rule causes throws");
        claim(qprof_trigger_thread_status() == 0, "the trigger has acted");
        qprof_record_fn_exit(10);
        claim(qprof_trigger_thread_status() == 1, "its frame has restored the status");
    }
    claim(qprof_stop_recording() == 1, "no lock is held");
    qprof_shutdown();
    return failed;
}
END
"$cxx" -std=c++14 -Wall -Wextra -I"$QPROF_SOURCE/include" host.cc -L"$QPROF_LIB" -lqprof \
    -Wl,-rpath,"$QPROF_LIB" -o host
./host
"$QPROF_BIN/qprof" check run.qprof >/dev/null
