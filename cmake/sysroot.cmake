# sysroot.cmake: where a toolchain file of this folder finds the libraries of its machine.
if(DEFINED ENV{QPROF_SYSROOT})
  set(CMAKE_FIND_ROOT_PATH $ENV{QPROF_SYSROOT})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  string(APPEND CMAKE_C_FLAGS_INIT " -isystem $ENV{QPROF_SYSROOT}/usr/include")
endif()
