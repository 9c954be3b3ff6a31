# libqprof_stub.a and share/qprof/qprof_stub.c: see stub.c.
set(stub_source ${PROJECT_BINARY_DIR}/made/qprof_stub.c)
set(stub_parts stub.c tools.c forward.awk make.sh)
list(TRANSFORM stub_parts PREPEND ${PROJECT_SOURCE_DIR}/stub/)
add_custom_command(OUTPUT ${stub_source}
  COMMAND sh ${PROJECT_SOURCE_DIR}/stub/make.sh ${stub_source}
  DEPENDS ${stub_parts} ${headers} ${PROJECT_SOURCE_DIR}/CMakeLists.txt
  COMMENT "Writing qprof_stub.c" VERBATIM)
add_library(qprof_stub STATIC ${stub_source})
set_target_properties(qprof_stub PROPERTIES EXPORT_NAME stub POSITION_INDEPENDENT_CODE ON)
target_include_directories(qprof_stub PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_options(qprof_stub PRIVATE -Os -Wall -Wextra -fno-asynchronous-unwind-tables)
target_link_libraries(qprof_stub PUBLIC ${CMAKE_DL_LIBS})
add_library(qprof::stub ALIAS qprof_stub)
