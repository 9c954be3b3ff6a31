// cpp_claims.cpp: what qprof.hpp promises. Its profiles are read by test_cpp.sh.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include <qprof.hpp>

#define CLAIM(is_so)                                                                           \
    do {                                                                                       \
        if (!(is_so)) {                                                                        \
            std::printf("line %d: not so: %s\n", __LINE__, #is_so);                            \
            std::exit(1);                                                                      \
        }                                                                                      \
    } while (0)

static const qprof::function outer{"outer", "claims.cpp", 10}, inner{"inner", "claims.cpp", 20},
    thrower{"thrower"}, tail{"tail"}, shared{"shared"}, piece{"piece"}, in_fiber{"in_fiber"};

static void throw_from_below(qprof::vm &vm, int n)
{
    qprof::call call{vm, thrower};
    if (n == 0)
        throw std::runtime_error("on purpose");
    throw_from_below(vm, n - 1);
}

static void nothing_asked_for()
{
    qprof::vm vm;
    CLAIM(!vm && !vm.error());
    qprof::call call{vm, outer};
    CLAIM(inner.in(vm) == 0);
}

static void wrong_options()
{
    qprof::vm vm{"-time=wrong"};
    CLAIM(!vm && vm.error());
    qprof::call call{vm, outer};
}

static void first_run()
{
    qprof::vm vm{"-output=first.qprof -collect=profile,coverage"};
    CLAIM(vm && !vm.error());
    for (int i = 0; i < 3; i++) {
        qprof::call call{vm, outer};
        for (int k = 0; k < 4; k++)
            qprof::call below{vm, inner};
        try {
            throw_from_below(vm, 9);
        } catch (const std::runtime_error &) {
        }
        qprof::call after{vm, inner}; // in outer, and not in thrower
    }
    {
        qprof::call call{vm, outer};
        call.become(tail.in(vm));
        qprof::call below{vm, inner}; // in tail
    }
    {
        qprof::paused paused;
        qprof::paused again;
        qprof::call skipped{vm, inner};
        CLAIM(!qprof_is_recording());
    }
    CLAIM(qprof_is_recording());
    {
        qprof::context context{"named"};
        qprof::call call{vm, outer};
    }
    {
        qprof::call call{vm, piece};
    }
    for (int i = 0; i < 5; i++)
        qprof::resumed resumed{vm, piece};
    {
        qprof::call call{vm, outer};
        qprof::stack stack{vm};
        for (int i = 0; i < 2; i++) {
            qprof::on_stack running{vm, stack};
            qprof::call fiber{vm, in_fiber};
        }
        qprof::call after{vm, inner}; // on the first stack again
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([] {
            qprof::vm own{"-output=unused.qprof"};
            CLAIM(own);
            for (int i = 0; i < 1000; i++)
                qprof::call call{own, shared};
        });
    for (std::thread &thread : threads)
        thread.join();
}

static void serve(qprof::vm &vm, int i)
{
    qprof::request request{vm, i % 2 ? "GET /odd" : "GET /even",
                           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
    qprof::call call{vm, outer};
    if (i % 5 == 0)
        throw_from_below(vm, 2);
    if (i % 5 == 1)
        request.fail();
    qprof::call below{vm, inner};
}

static void requests()
{
    qprof::vm vm{"-output=requests.qprof -check-host=yes"};
    for (int i = 0; i < 100; i++) {
        if (i == 50) { // in a call
            qprof::call call{vm, tail};
            qprof::request nested{vm, "nested"};
            serve(vm, 2);
            qprof::call after{vm, inner}; // in the outer request
        }
        try {
            serve(vm, i);
        } catch (const std::runtime_error &) {
        }
    }
    qprof::call after{vm, inner};
}

static void second_run()
{
    qprof::vm vm{"-output=second.qprof"};
    qprof::call call{vm, outer};
    qprof::call below{vm, inner};
}

int main()
{
    nothing_asked_for();
    wrong_options();
    first_run();
    requests();
    second_run();
}
