/* qprof.hpp: qprof/embed.h for runtimes and programs in C++17. What begins in a constructor ends in the
 * destructor, so exceptions and early returns end calls as they must.
 *
 *     qprof::vm vm;                                  the run, if the variable QPROF is set
 *     static const qprof::function work{"work", __FILE__, __LINE__};
 *     qprof::call call{vm, work};                    this block is a call
 *
 * Nothing here throws, and nothing is allocated. While nothing is recorded, each call is a test. Guide:
 * docs/cpp.md. */
#ifndef QPROF_HPP
#define QPROF_HPP

#include <atomic>
#include <exception>

#include "qprof/embed.h"

namespace qprof
{

/** A virtual machine: a part of the program that runs on one OS thread at a time. */
class vm
{
  public:
    /** Begin to use the recorder, see qprof_vm_open().
     *
     * @param options  null: record if the environment variable QPROF is set */
    explicit vm(const char *options = nullptr) noexcept : opened_(qprof_vm_open(&vm_, options))
    {
    }
    ~vm()
    {
        qprof_vm_close(&vm_);
    }
    vm(const vm &) = delete;
    vm &operator=(const vm &) = delete;

    /** Whether it is recorded. */
    explicit operator bool() const noexcept
    {
        return opened_ > 0;
    }
    /** Why it is not recorded; null: it is, or no recording is asked for. */
    const char *error() const noexcept
    {
        return opened_ < 0 ? qprof_error_text() : nullptr;
    }
    /** The stack that runs. */
    qprof_stack *running() const noexcept
    {
        return vm_.running;
    }
    /** Of which run its functions are; 0 or less: of none. */
    int run() const noexcept
    {
        return vm_.run;
    }
    /** For what has no class here. */
    qprof_vm *get() noexcept
    {
        return &vm_;
    }

  private:
    qprof_vm vm_;
    int opened_;
};

/** A function. It may outlive runs; each run gets it when it is first called. */
class function
{
  public:
    /** @param name, file  must live as long as the function. @param line  where it is declared; 0: unknown */
    constexpr explicit function(const char *name, const char *file = "", int line = 0) noexcept
        : name_(name), file_(file), line_(line)
    {
    }

    /** Its id in the run of a VM; 0: nothing is recorded. Any thread. */
    qprof_MethodID in(const vm &of) const noexcept
    {
        if (run_.load(std::memory_order_acquire) != of.run())
            define(of);
        return id_.load(std::memory_order_relaxed);
    }

  private:
    void define(const vm &of) const noexcept
    {
        while (is_defining_.test_and_set(std::memory_order_acquire)) {
        }
        if (run_.load(std::memory_order_relaxed) != of.run()) { /* no other thread was first */
            const qprof_LineInfo declared = {-1, line_};
            qprof_MethodID id = 0;
            if (of.run() > 0)
                id = qprof_define(name_, nullptr, file_, &declared, line_ > 0);
            id_.store(id, std::memory_order_relaxed);
            run_.store(of.run(), std::memory_order_release);
        }
        is_defining_.clear(std::memory_order_release);
    }

    const char *name_, *file_;
    int line_;
    mutable std::atomic<qprof_MethodID> id_{0};
    mutable std::atomic<int> run_{0}; /* that the id is of */
    mutable std::atomic_flag is_defining_ = ATOMIC_FLAG_INIT;
};

/** A call, from here to the end of the block. */
class call
{
  public:
    /** Enter a function above whatever runs. */
    call(vm &of, const function &what) noexcept : call(of.running(), what.in(of))
    {
    }
    /** @param stack  that runs. @param id  from qprof_define(); 0: nothing is recorded */
    call(qprof_stack *stack, qprof_MethodID id) noexcept : stack_(stack)
    {
        token_ =
            id ? qprof_enter(stack, stack->outside ? qprof_top(stack) : 0, id) : QPROF_NO_TOKEN;
    }
    ~call()
    {
        qprof_leave(stack_, token_);
    }
    call(const call &) = delete;
    call &operator=(const call &) = delete;

    /** For callees whose caller is known, and for qprof_unwind(). */
    qprof_token token() const noexcept
    {
        return token_;
    }
    /** It continues as another function: a tail call. */
    void become(qprof_MethodID id) noexcept
    {
        token_ = qprof_tail(stack_, token_, id);
    }

  protected:
    call(qprof_stack *stack, qprof_token token, int) noexcept : stack_(stack), token_(token)
    {
    }
    qprof_stack *stack_;
    qprof_token token_;
};

/** A piece of a call that was suspended, a generator's: it continues here, and is suspended at the end of the
 * block. It counts as a resume. */
class resumed : public call
{
  public:
    resumed(vm &of, const function &what) noexcept
        : call(of.running(),
               qprof_resume(of.running(), of.running()->outside ? qprof_top(of.running()) : 0,
                            what.in(of)),
               0)
    {
    }
};

/** The stack of a coroutine or fiber. The calls that are open when it is made are its creators. */
class stack
{
  public:
    explicit stack(vm &of) noexcept : vm_(of.get())
    {
        qprof_stack_create(&stack_, of.running());
    }
    /** It does not run. Its open calls end. */
    ~stack()
    {
        qprof_stack_end(vm_, &stack_);
    }
    stack(const stack &) = delete;
    stack &operator=(const stack &) = delete;

    qprof_stack *get() noexcept
    {
        return &stack_;
    }

  private:
    qprof_vm *vm_;
    qprof_stack stack_;
};

/** The block runs on another stack. At its end the one that ran before continues. */
class on_stack
{
  public:
    on_stack(vm &of, stack &to) noexcept : vm_(of.get()), before_(qprof_switch(vm_, to.get()))
    {
    }
    ~on_stack()
    {
        qprof_switch(vm_, before_);
    }
    on_stack(const on_stack &) = delete;
    on_stack &operator=(const on_stack &) = delete;

  private:
    qprof_vm *vm_;
    qprof_stack *before_;
};

/** A request of a server: what runs in the block belongs to the endpoint, see qprof_request_begin(). An exception that
 * leaves the block counts it as failed. */
class request
{
  public:
    /** @param traceparent  the header of W3C Trace Context; null or wrong: none */
    request(vm &of, const char *endpoint, const char *traceparent = nullptr) noexcept
        : stack_(of.running()), n_exceptions_(std::uncaught_exceptions())
    {
        qprof_enter_request(stack_, endpoint, traceparent);
    }
    ~request()
    {
        qprof_leave_request(stack_, has_failed_ || std::uncaught_exceptions() > n_exceptions_);
    }
    request(const request &) = delete;
    request &operator=(const request &) = delete;

    /** It is counted as failed, though no exception leaves it. */
    void fail() noexcept
    {
        has_failed_ = true;
    }

  private:
    qprof_stack *stack_;
    int n_exceptions_;
    bool has_failed_ = false;
};

/** What any thread executes during the block belongs to a context, for example a test; then to none. */
class context
{
  public:
    explicit context(const char *name) noexcept
    {
        qprof_context(name);
    }
    ~context()
    {
        qprof_context(nullptr);
    }
    context(const context &) = delete;
    context &operator=(const context &) = delete;
};

/** Nothing is recorded during the block, in all threads, unless it was already stopped. */
class paused
{
  public:
    paused() noexcept : has_stopped_(qprof_stop_recording() > 0)
    {
    }
    ~paused()
    {
        if (has_stopped_)
            qprof_start_recording();
    }
    paused(const paused &) = delete;
    paused &operator=(const paused &) = delete;

  private:
    bool has_stopped_;
};

} // namespace qprof

#endif
