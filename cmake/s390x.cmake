# s390x.cmake: a toolchain file. Debian: gcc-s390x-linux-gnu, qemu-user-static
#
# cmake --toolchain cmake/s390x.cmake ...; QPROF_SYSROOT in the environment: a folder with the libraries of that
# machine below usr/, as tests/long/platforms.sh makes one. The recorder alone needs none.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE s390x-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x-static -L /usr/s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake)
