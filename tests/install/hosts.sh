# hosts.sh: hosts of a few lines, one of libqprof and one of libcprof, are built with pkg-config and with CMake,
# shared and static, and leave a profile. Sourced in an empty folder; the environment says where qprof is installed.

cat >qprof-host.c <<'END'
#include <qprof.h>
int main(void)
{
    if (qprof_initialize("-output=host.qprof", 0) != 0)
        return 1;
    qprof_register_method_id(7, "main", 0, QPROF_METHOD_FLAGS_NONE, "host.x", 0, 0);
    qprof_record_fn_entry(7, 1);
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    qprof_entry(th, 7, 2);
    qprof_exit(th, 1);
    qprof_record_fn_exit(0);
    qprof_shutdown();
    return 0;
}
END
cat >cprof-host.c <<'END'
#include <cprof.h>
int main(void)
{
    if (cprof_initialize("-output=host.qprof", 0) != 0)
        return 1;
    cprof_register_method_id(7, "main", 0, QPROF_METHOD_FLAGS_NONE, "host.x", 0, 0);
    for (int i = 0; i < 2; i++) {
        cprof_record_fn_entry(7, 1);
        cprof_record_fn_exit(0);
    }
    cprof_shutdown();
    return 0;
}
END

# works HOW PROGRAM: it runs, and what it leaves has both calls
works() {
    rm -f host.qprof
    "$2" || { echo "hosts.sh: $1: the host fails"; exit 1; }
    n=$(qprof report --format=json host.qprof |
        jq '.methods[] | select(.name == "main") | .calls')
    [ "$n" = 2 ] || { echo "hosts.sh: $1: main has '$n' calls, not 2"; exit 1; }
}

if command -v pkg-config >/dev/null; then
    [ -f "$(pkg-config --variable=stub qprof)" ] || { echo "hosts.sh: the stub is not where pkg-config says"; exit 1; }
    for library in qprof cprof; do
        cc $library-host.c -o host-pc $(pkg-config --cflags --libs $library)
        works "pkg-config $library" ./host-pc
        cc $library-host.c -o host-pc-static $(pkg-config --cflags $library) -Wl,-Bstatic \
            $(pkg-config --static --libs $library) -Wl,-Bdynamic
        works "pkg-config --static $library" ./host-pc-static
    done
fi

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(host C)
find_package(qprof 0.1 REQUIRED)
add_executable(qprof-shared qprof-host.c)
target_link_libraries(qprof-shared PRIVATE qprof::qprof)
add_executable(qprof-static qprof-host.c)
target_link_libraries(qprof-static PRIVATE qprof::static)
add_executable(cprof-shared cprof-host.c)
target_link_libraries(cprof-shared PRIVATE qprof::cprof)
add_executable(cprof-static cprof-host.c)
target_link_libraries(cprof-static PRIVATE qprof::cprof_static)
END
rm -rf host-build
cmake -S . -B host-build >cmake.log
cmake --build host-build >>cmake.log
for library in qprof cprof; do
    works "find_package, $library" host-build/$library-shared
    works "find_package, $library, static" host-build/$library-static
done
