# i386.cmake: a toolchain file. Debian: gcc-i686-linux-gnu
#
# cmake --toolchain cmake/i386.cmake ...; QPROF_SYSROOT in the environment: a folder with the libraries of that
# machine below usr/, as tests/long/platforms.sh makes one. The recorder alone needs none.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE i386-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake)
