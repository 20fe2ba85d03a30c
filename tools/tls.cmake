# Where TLS comes from. A static library links OpenSSL, and so does its user. A shared library and
# the program load OpenSSL when the first server needs TLS, from a module in their own folder.
# Otherwise the dynamic linker would spend more time on OpenSSL than on the rest of the program's
# start.
file(GLOB openssl_sources CONFIGURE_DEPENDS src/net/openssl/*.cpp)
set(HOLDFAST_TLS_MODULE "holdfast-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}/tls.so")

function(holdfast_add_tls target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    holdfast_load_tls_on_demand(${target})
  else()
    target_sources(${target} PRIVATE ${openssl_sources})
    target_link_libraries(${target} PRIVATE OpenSSL::SSL)
  endif()
endfunction()

# holdfast_load_tls_on_demand(<target> [<folder>...]): makes the target look for the module in its
# own folder, then in these folders, which are relative to its own. In a program this replaces the
# definition in the static library, which the linker then does not use.
function(holdfast_load_tls_on_demand target)
  set(folders "\".\"")
  foreach(folder IN LISTS ARGN)
    string(APPEND folders ", \"${folder}\"")
  endforeach()
  set(source "${PROJECT_SOURCE_DIR}/src/net/on_demand/loaded.cpp")
  target_sources(${target} PRIVATE "${source}")
  set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES
    INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/src"
    COMPILE_DEFINITIONS
      "HOLDFAST_TLS_FOLDERS=${folders};HOLDFAST_TLS_MODULE=\"${HOLDFAST_TLS_MODULE}\"")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE LINKER:--as-needed) # else OpenSSL is always linked
  add_dependencies(${target} holdfast_tls)
endfunction()

# holdfast_tls_module(<target>): builds the module in the folder of that target.
function(holdfast_tls_module beside)
  set(source "${PROJECT_SOURCE_DIR}/src")
  add_library(holdfast_tls MODULE
    ${openssl_sources} "${source}/net/on_demand/module.cpp"
    "${source}/runtime/secret.cpp" "${source}/built_with_boost.cpp")
  target_compile_features(holdfast_tls PRIVATE cxx_std_20)
  target_include_directories(holdfast_tls PRIVATE "${source}" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(holdfast_tls PRIVATE Boost::headers OpenSSL::SSL)
  cmake_path(GET HOLDFAST_TLS_MODULE PARENT_PATH folder)
  cmake_path(GET HOLDFAST_TLS_MODULE STEM name)
  set_target_properties(holdfast_tls PROPERTIES PREFIX "" OUTPUT_NAME "${name}" SUFFIX ".so"
    LIBRARY_OUTPUT_DIRECTORY "$<TARGET_FILE_DIR:${beside}>/${folder}")
  if(HOLDFAST_INSTALL)
    install(TARGETS holdfast_tls DESTINATION "${CMAKE_INSTALL_LIBDIR}/${folder}")
  endif()
endfunction()
