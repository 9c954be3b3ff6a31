# Installs the libraries, headers, tool and documentation; qlua: examples/lua-host. Other builds find them with pkg-config
# qprof or cprof, or with find_package(qprof).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/qprof)
set(install_dir ${PROJECT_BINARY_DIR}/install)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/bindings/cpp/qprof.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS qprof_shared qprof_static cprof_shared cprof_static qprof_stub EXPORT qprof-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${stub_source} DESTINATION ${CMAKE_INSTALL_DATADIR}/qprof)
if(TARGET qprof_tool)
  install(TARGETS qprof_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
set(QPROF_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Folder of completions of zsh; packages of Debian: share/zsh/vendor-completions")
set(manual ${PROJECT_BINARY_DIR}/manual)
if(EXISTS ${manual})
  install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 FILES_MATCHING PATTERN "*.7")
  install(FILES ${manual}/qprof.bash RENAME qprof
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${manual}/_qprof DESTINATION ${QPROF_ZSH_DIR})
  install(FILES ${manual}/qprof.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/minivm # docs/embedding.md is about it
        DESTINATION ${CMAKE_INSTALL_DATADIR}/qprof/examples)

install(EXPORT qprof-targets NAMESPACE qprof:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/src/api/qprof-config.cmake.in
  ${install_dir}/qprof-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${install_dir}/qprof-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${install_dir}/qprof-config.cmake ${install_dir}/qprof-config-version.cmake
        DESTINATION ${package_dir})

# The prefix is relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(library qprof cprof)
  configure_file(${PROJECT_SOURCE_DIR}/src/api/library.pc.in ${install_dir}/${library}.pc @ONLY)
  install(FILES ${install_dir}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
