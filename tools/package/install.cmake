# Installs for `cmake --install`: the library with its component holdfast::testing and, if they
# were built, holdfast::mysql and holdfast::metrics; the headers; the program with its manual and
# completions; and files for find_package and pkg-config. tests/package uses each of them.
include(CMakePackageConfigHelpers)

install(TARGETS holdfast EXPORT holdfast-targets)
install(DIRECTORY include/holdfast TYPE INCLUDE
        FILES_MATCHING PATTERN "*.hpp" PATTERN "mysql" EXCLUDE PATTERN "metrics" EXCLUDE)
install(TARGETS holdfast_testing EXPORT holdfast-testing-targets)
if(TARGET holdfast_mysql)
  install(TARGETS holdfast_mysql EXPORT holdfast-mysql-targets)
  install(DIRECTORY include/holdfast/mysql DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/holdfast"
          FILES_MATCHING PATTERN "*.hpp")
endif()
if(TARGET holdfast_metrics)
  install(TARGETS holdfast_metrics EXPORT holdfast-metrics-targets)
  install(DIRECTORY include/holdfast/metrics DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/holdfast"
          FILES_MATCHING PATTERN "*.hpp")
endif()
if(TARGET holdfast_cli)
  install(TARGETS holdfast_cli)
  if(TARGET holdfast_man)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/cli/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
            FILES_MATCHING PATTERN "*.1")
  endif()
  # Debian's zsh looks into the first folder for packages, and into the second for local builds.
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh_folder "vendor-completions")
  else()
    set(zsh_folder "site-functions")
  endif()
  install(FILES cli/completion/holdfast.bash RENAME holdfast
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES cli/completion/_holdfast DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder}")
  install(FILES cli/completion/holdfast.fish
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
configure_package_config_file(tools/package/holdfast-config.cmake.in holdfast-config.cmake
  INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its users, so 0.2 does not satisfy a request for 0.1.
write_basic_package_version_file(holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT holdfast-targets NAMESPACE holdfast:: DESTINATION "${package_folder}")
# Each component has its own files, so that a distribution can package it separately.
install(EXPORT holdfast-testing-targets NAMESPACE holdfast:: DESTINATION "${package_folder}")
if(TARGET holdfast_mysql)
  install(EXPORT holdfast-mysql-targets NAMESPACE holdfast:: DESTINATION "${package_folder}")
endif()
if(TARGET holdfast_metrics)
  install(EXPORT holdfast-metrics-targets NAMESPACE holdfast:: DESTINATION "${package_folder}")
endif()
install(FILES "${PROJECT_BINARY_DIR}/holdfast-config.cmake"
              "${PROJECT_BINARY_DIR}/holdfast-config-version.cmake"
        DESTINATION "${package_folder}")

# A program that links the static library must link the library's dependencies. A shared library
# needs no such list. pkg-config would even require the development files of private dependencies.
set(pc_requires "")
set(pc_mysql_requires "")
if(NOT BUILD_SHARED_LIBS)
  set(pc_mysql_requires ", libmariadb >= 3.3")
  set(pc_requires "Requires: hiredis >= 0.14, libssl >= 3.0, libcrypto >= 3.0\n")
endif()
# Computed from the location of the file, so that the installation can be moved (`--prefix`, staging
# folders).
file(RELATIVE_PATH pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(tools/package/holdfast.pc.in holdfast.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/holdfast.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
configure_file(tools/package/holdfast-testing.pc.in holdfast-testing.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/holdfast-testing.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(TARGET holdfast_mysql)
  configure_file(tools/package/holdfast-mysql.pc.in holdfast-mysql.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/holdfast-mysql.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
if(TARGET holdfast_metrics)
  configure_file(tools/package/holdfast-metrics.pc.in holdfast-metrics.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/holdfast-metrics.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

# The documents keep the layout of the checkout, so that links between pages and examples work.
if(PROJECT_IS_TOP_LEVEL)
  file(GLOB pages CONFIGURE_DEPENDS *.md)
  install(FILES LICENSE ${pages} TYPE DOC)
  install(DIRECTORY docs TYPE DOC PATTERN "docs/man" EXCLUDE) # installed as a manual
  install(DIRECTORY examples TYPE DOC FILES_MATCHING PATTERN "*.cpp")
  install(FILES packaging/prometheus/holdfast.rules.yml
          DESTINATION "${CMAKE_INSTALL_DOCDIR}/packaging/prometheus")
  install(FILES packaging/grafana/holdfast.json
          DESTINATION "${CMAKE_INSTALL_DOCDIR}/packaging/grafana")
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_DOCDIR BASE_DIRECTORY "\${CMAKE_INSTALL_PREFIX}"
             OUTPUT_VARIABLE documents)
  install(CODE "set(source \"${PROJECT_SOURCE_DIR}\")
                set(documents \"\$ENV{DESTDIR}${documents}\")")
  install(SCRIPT tools/package/documents.cmake)
endif()
