# Where TLS comes from. A static library links OpenSSL, as its user then does. A shared library and
# the program load it when the first server wants TLS, from a module that lies beside them: the
# dynamic linker takes longer for OpenSSL than for all else that a start of the program needs.
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

# holdfast_load_tls_on_demand(<target> [<folder>...]): looks for the module there, relative to the
# target's own folder, and beside it before that. In a program this replaces the definition that a
# static library would bring along, which its linker then does not take.
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
  target_link_options(${target} PRIVATE LINKER:--as-needed) # or OpenSSL is linked, used or not
  add_dependencies(${target} holdfast_tls)
endfunction()

# holdfast_tls_module(<target>): the module, built beside that target.
function(holdfast_tls_module beside)
  set(source "${PROJECT_SOURCE_DIR}/src")
  add_library(holdfast_tls MODULE
    ${openssl_sources} "${source}/net/on_demand/module.cpp"
    "${source}/secret.cpp" "${source}/built_with_boost.cpp")
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
