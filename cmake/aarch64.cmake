# aarch64.cmake: a toolchain file. Debian: gcc-aarch64-linux-gnu, qemu-user-static
#
# cmake --toolchain cmake/aarch64.cmake ...; QPROF_SYSROOT in the environment: a folder with the libraries of that
# machine below usr/, as tests/long/platforms.sh makes one. The recorder alone needs none.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake)
