// example.cpp: a program that records itself: calls, an exception, a generator and a fiber.
//
//     c++ -std=c++17 example.cpp $(pkg-config --cflags --libs qprof) -o example
//     QPROF=-output=example.qprof ./example && qprof report example.qprof
#include <cstdio>
#include <stdexcept>

#include <qprof.hpp>

static thread_local qprof::vm vm;

static const qprof::function main_function{"main", __FILE__, __LINE__};
static const qprof::function fib_function{"fib", __FILE__, __LINE__};
static const qprof::function parse_function{"parse", __FILE__, __LINE__};
static const qprof::function squares_function{"squares", __FILE__, __LINE__};
static const qprof::function fiber_function{"fiber", __FILE__, __LINE__};

static int fib(int n)
{
    qprof::call call{vm, fib_function};
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int parse(const char *text)
{
    qprof::call call{vm, parse_function};
    if (*text < '0' || *text > '9')
        throw std::invalid_argument(text); // the call ends all the same
    return *text - '0';
}

// A generator: its first piece is a call, the others are resumes.
class squares {
public:
    int next()
    {
        if (n_ == 0) {
            qprof::call call{vm, squares_function};
            return step();
        }
        qprof::resumed piece{vm, squares_function};
        return step();
    }

private:
    int step()
    {
        n_++;
        return n_ * n_;
    }
    int n_ = 0;
};

int main()
{
    qprof::call call{vm, main_function};
    int sum = fib(15);
    for (const char *text : {"1", "two", "3"}) {
        try {
            sum += parse(text);
        } catch (const std::invalid_argument &) {
            sum -= 1;
        }
    }
    squares generator;
    for (int i = 0; i < 10; i++)
        sum += generator.next();
    qprof::stack stack{vm};
    {
        qprof::on_stack running{vm, stack};
        qprof::call fiber{vm, fiber_function};
        sum += fib(5);
    }
    std::printf("%d\n", sum);
}
