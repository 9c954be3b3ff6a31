# libqprof and libcprof: one engine, compiled twice, see src/format/options.h.
#
# The recorder's objects, and those of the common rooms that they need, are linked into one object.
# Its hidden symbols become local, so no name of it can conflict with a name of the host or of the
# other library. The shared library and the archive both contain that object.
#
# libcprof is compiled with every function renamed, qprof_x to cprof_x, so that it never calls
# itself by a name that libqprof also has. The names qprof_x are weak aliases there: in a program
# that links both libraries statically they are those of libqprof.

# The functions that the headers declare with QPROF_FN: libcprof renames all of them.
set(headers qprof.h qprof/inline.h qprof/memory.h qprof/metrics.h qprof/locks.h qprof/samples_only.h qprof/sampling.h qprof/cost.h qprof/requests.h qprof/triggers.h qprof/events.h qprof/trace.h)
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/)
set(declarations "")
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(APPEND declarations "${text}")
endforeach()
string(REGEX MATCHALL "QPROF_FN\\([^)]*\\)[ \n]qprof_[a-z_]+" calls "${declarations}")
list(TRANSFORM calls REPLACE "^.*[ \n]qprof_" "")
set(cold_calls ${calls}) # of the inline path
list(FILTER cold_calls INCLUDE REGEX "^cold_")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})

set(made_dir ${PROJECT_BINARY_DIR}/made)
set(renames "/* made by src/api/libraries.cmake */\n")
set(aliases "")
set(bindings "")
foreach(call IN LISTS calls)
  string(APPEND renames "#define qprof_${call} cprof_${call}\n")
  list(APPEND aliases -Wl,--defsym=qprof_${call}=cprof_${call})
  list(APPEND bindings --weaken-symbol=qprof_${call})
endforeach()
foreach(call IN LISTS cold_calls) # a handle of cprof_thread_handle() has no inline path
  list(APPEND bindings --localize-symbol=cprof_${call})
endforeach()
file(CONFIGURE OUTPUT ${made_dir}/cprof_renames.h CONTENT "${renames}" @ONLY)

# qprof_library(NAME RECORDER GROUND LINK_WORDS OBJCOPY_WORDS): targets NAME_shared, NAME_static
function(qprof_library NAME RECORDER GROUND LINK_WORDS OBJCOPY_WORDS)
  add_library(${NAME}_ground_archive STATIC $<TARGET_OBJECTS:${GROUND}>)
  set_target_properties(${NAME}_ground_archive PROPERTIES LINKER_LANGUAGE C
                        ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_whole.o)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_engine.o)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
  list(REMOVE_ITEM flags --coverage -fprofile-arcs) # each program links the compiler's counters once
  # section groups are shared by name: a group of the host must not replace one of the library
  set(partial_words -Wl,--gc-sections -Wl,--gc-keep-exported -Wl,--force-group-allocation)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib ${partial_words} ${LINK_WORDS} -o ${whole}
            $<TARGET_OBJECTS:${RECORDER}> $<TARGET_FILE:${NAME}_ground_archive>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${OBJCOPY_WORDS} ${whole} ${object}
    DEPENDS ${RECORDER} $<TARGET_OBJECTS:${RECORDER}> ${NAME}_ground_archive
    COMMENT "Linking the engine of lib${NAME}" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${NAME}_engine DEPENDS ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)

  add_library(${NAME}_shared SHARED ${object})
  add_library(${NAME}_static STATIC ${object})
  set_target_properties(${NAME}_shared PROPERTIES VERSION 1.${PROJECT_VERSION} SOVERSION 1)
  foreach(library ${NAME}_shared ${NAME}_static)
    add_dependencies(${library} ${NAME}_engine)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME ${NAME} LINKER_LANGUAGE C)
    target_include_directories(${library} PUBLIC
                               $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
  target_link_libraries(${NAME}_static PUBLIC Threads::Threads)
  target_link_libraries(${NAME}_shared PRIVATE Threads::Threads)

  set(version_script ${PROJECT_SOURCE_DIR}/src/api/lib${NAME}.map)
  set_target_properties(${NAME}_shared PROPERTIES LINK_DEPENDS ${version_script})
  # nodelete: threads and exit handlers may run the library's code after dlclose()
  # noseparate-code: saves three pages
  # symbolic: the library calls its own functions, even if another object has the same name
  target_link_options(${NAME}_shared PRIVATE -Wl,--version-script=${version_script}
                      -Wl,-z,nodelete,-z,now,-z,relro,-z,noseparate-code -Wl,--gc-sections -Wl,--as-needed
                      -Wl,-Bsymbolic-functions)
  if(NOT QPROF_SANITIZE)
    target_link_options(${NAME}_shared PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${NAME}_shared PROPERTIES EXPORT_NAME ${NAME})
  add_library(qprof::${NAME} ALIAS ${NAME}_shared)
endfunction()

qprof_library(qprof qprof_recorder qprof_ground "" "")
set_target_properties(qprof_static PROPERTIES EXPORT_NAME static)
add_library(qprof::static ALIAS qprof_static)

qprof_room_objects(cprof_ground base format code config cover xbase)
qprof_room_objects(cprof_recorder record api)
foreach(objects cprof_ground cprof_recorder)
  target_compile_definitions(${objects} PRIVATE QP_LIBCPROF)
  target_compile_options(${objects} PRIVATE "SHELL:-include ${made_dir}/cprof_renames.h" ${hidden})
endforeach()
target_compile_options(cprof_recorder PRIVATE -fno-stack-protector)
qprof_library(cprof cprof_recorder cprof_ground "${aliases}" "${bindings}")
add_library(qprof::cprof_static ALIAS cprof_static)
