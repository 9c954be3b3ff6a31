#!/bin/sh
# test_cpp.sh: qprof.hpp, as it is installed, found by pkg-config and by CMake, compiled without a warning as C++17 and C++20.
# Its promises, and the example.
set -eu
command -v c++ >/dev/null || { echo "test_cpp.sh: no C++ compiler"; exit 77; }
cmake --install "$QPROF_BUILD" --prefix "$PWD/prefix" >install.log
libdir=$(dirname "$(find "$PWD/prefix" -name libqprof.a)")
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
unset QPROF
tests=$QPROF_SOURCE/tests/bindings example=$QPROF_SOURCE/bindings/cpp/example.cpp
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror"

# calls FILE NAME MEMBER
calls() {
    "$QPROF_BIN/qprof" report --format=json --limit=0 "$1" | jq --arg name "$2" "[.methods[] | select(.name == \$name) | .$3] | add"
}
is() {
    [ "$2" = "$3" ] || { echo "$how: $1: $2, and not $3"; exit 1; }
}
below() {
    "$QPROF_BIN/qprof" tree --format=json "$1" | jq -c --arg name "$2" \
        '(.methods | map({(.id | tostring): .name}) | add) as $name_of | (.nodes | map({(.id | tostring): .}) | add) as $node |
        [.nodes[] | select($name_of[.method | tostring] == $name) | $name_of[$node[.parent | tostring].method | tostring] // "-"] | unique'
}

for how in "c++ -std=c++17" "c++ -std=c++20 -O2" "clang++ -std=c++17 -O2"; do
    command -v "${how%% *}" >/dev/null || continue
    rm -f ./*.qprof
    # the headers of C are no concern of -Wold-style-cast
    $how $warnings "$tests/cpp_claims.cpp" -isystem "$PWD/prefix/include" $(pkg-config --cflags --libs qprof) -lpthread -o claims
    ./claims
    is "calls of outer" "$(calls first.qprof outer calls)" 6
    is "calls of inner, one of them in a pause" "$(calls first.qprof inner calls)" 18
    is "calls that an exception ended" "$(calls first.qprof thrower calls)" 30
    is "who calls inner" "$(below first.qprof inner)" '[".root.","outer","tail"]'
    is "a tail call" "$(calls first.qprof tail calls)" 1
    is "calls of a generator" "$(calls first.qprof piece calls)" 1
    is "its resumes" "$(calls first.qprof piece resumes)" 5
    is "calls on another stack" "$(calls first.qprof in_fiber calls)" 2
    is "calls of four threads" "$(calls first.qprof shared calls)" 4000
    is "functions of that name" "$("$QPROF_BIN/qprof" report --format=json first.qprof | jq '[.methods[] | select(.name == "shared")] | length')" 1
    # of 50 even ones 10 throw and 10 call fail(); of 50 odd ones as many; and one more that is nested
    "$QPROF_BIN/qprof" requests --format=json requests.qprof >requests.json
    is "requests" "$(jq -c '[.endpoints[] | [.endpoint, .requests, .failed, .cut]] | sort' requests.json)" \
        '[["GET /even",51,20,0],["GET /odd",50,20,0],["nested",1,0,0]]'
    is "its trace" "$(jq -r '[.endpoints[].slowest_trace // empty] | unique[]' requests.json)" 0af7651916cd43dd8448eb211c80319c
    is "calls below endpoints" "$("$QPROF_BIN/qprof" report --endpoint="GET /*" --format=json requests.qprof |
        jq -c '[.methods[] | {(.name): .hits}] | add | [.outer, .inner, .thrower]')" '[101,81,60]'
    is "all calls of inner" "$(calls requests.qprof inner calls)" 83
    "$QPROF_BIN/qprof" check --host requests.qprof >/dev/null
    is "calls in the second run" "$(calls second.qprof inner calls)" 1
    is "contexts" "$("$QPROF_BIN/qprof" cover report --format=json first.qprof | jq -c .contexts)" '["","named"]'
    [ ! -e unused.qprof ] || { echo "the options of a second VM of the run made a file"; exit 1; }
    for file in *.qprof; do "$QPROF_BIN/qprof" check "$file" >/dev/null; done
done

mkdir consumer
cp "$example" consumer/
cat >consumer/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
find_package(qprof REQUIRED)
add_executable(example example.cpp)
target_compile_features(example PRIVATE cxx_std_17)
target_link_libraries(example PRIVATE qprof::qprof)
END
how=CMake
cmake -S consumer -B consumer/build -DCMAKE_PREFIX_PATH="$PWD/prefix" >cmake.log
cmake --build consumer/build >>cmake.log
QPROF=-output=example.qprof consumer/build/example >example.out
# fib(15) = 610; 1 - 1 + 3; squares up to 100: 385; fib(5) = 5
is "what the example prints" "$(cat example.out)" 1003
# 2 F(n + 1) - 1 calls for fib(n): 1973 and 15
is "calls of fib" "$(calls example.qprof fib calls)" 1988
is "resumes of squares" "$(calls example.qprof squares resumes)" 9

# the commands of the guide
. "$tests/lib.sh"
mkdir guide
cp "$example" guide/
(cd guide && follow_guide cpp.md)
