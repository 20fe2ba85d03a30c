# The component holdfast::metrics: a separate library, so that only programs that use it link
# prometheus-cpp. It uses only the public API of the core.
#
# holdfast_add_metrics(): if prometheus-cpp is found, makes the targets holdfast_metrics, for users,
# and holdfast_metrics_internals, for our own tests. HOLDFAST_METRICS=ON makes prometheus-cpp
# mandatory.
set_property(CACHE HOLDFAST_METRICS PROPERTY STRINGS AUTO ON OFF)
set(HOLDFAST_METRICS_MODULE
    "holdfast-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}/metrics.so")

file(GLOB metrics_sources CONFIGURE_DEPENDS src/metrics/*.cpp)
function(holdfast_metrics_library target)
  add_library(${target} ${ARGN})
  holdfast_add_sources(${target} ${metrics_sources})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  # The public header includes headers of prometheus-cpp.
  target_link_libraries(${target} PUBLIC PkgConfig::PROMETHEUS)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON DEFINE_SYMBOL ""
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

function(holdfast_add_metrics)
  if(NOT HOLDFAST_METRICS)
    return()
  endif()
  holdfast_find_optional(PROMETHEUS metrics prometheus-cpp "prometheus-cpp-core>=1.0")
  if(NOT PROMETHEUS_FOUND)
    return()
  endif()
  holdfast_metrics_library(holdfast_metrics)
  target_link_libraries(holdfast_metrics PUBLIC holdfast)
  set_target_properties(holdfast_metrics PROPERTIES EXPORT_NAME metrics)
  add_library(holdfast::metrics ALIAS holdfast_metrics)
  if(BUILD_SHARED_LIBS)
    holdfast_metrics_library(holdfast_metrics_internals STATIC EXCLUDE_FROM_ALL)
    target_link_libraries(holdfast_metrics_internals PUBLIC holdfast_internals)
  else()
    add_library(holdfast_metrics_internals ALIAS holdfast_metrics)
  endif()
endfunction()

# holdfast_load_metrics_on_demand(<program> <folder>): makes the program load prometheus-cpp only
# for --metrics-textfile. The program looks for the module in its own folder, and in this folder,
# which is relative to its own. prometheus-cpp would double the time of each start: it brings the
# shared C++ runtime, which the program links statically.
function(holdfast_load_metrics_on_demand target folder)
  add_library(holdfast_metrics_module MODULE
    ${metrics_sources} "${PROJECT_SOURCE_DIR}/cli/metrics_module/module.cpp"
    "${PROJECT_SOURCE_DIR}/src/built_with_boost.cpp"
    "${PROJECT_SOURCE_DIR}/src/runtime/boot_clock.cpp")
  target_compile_features(holdfast_metrics_module PRIVATE cxx_std_20)
  target_include_directories(holdfast_metrics_module PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(holdfast_metrics_module PRIVATE Boost::headers PkgConfig::PROMETHEUS)
  cmake_path(GET HOLDFAST_METRICS_MODULE PARENT_PATH module_folder)
  set_target_properties(holdfast_metrics_module PROPERTIES
    PREFIX "" OUTPUT_NAME metrics SUFFIX ".so"
    LIBRARY_OUTPUT_DIRECTORY "$<TARGET_FILE_DIR:${target}>/${module_folder}")
  if(HOLDFAST_INSTALL)
    install(TARGETS holdfast_metrics_module DESTINATION "${CMAKE_INSTALL_LIBDIR}/${module_folder}")
  endif()
  target_compile_definitions(${target} PRIVATE
    "HOLDFAST_METRICS_FOLDERS=\".\", \"${folder}\""
    "HOLDFAST_METRICS_MODULE=\"${HOLDFAST_METRICS_MODULE}\"")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(${target} holdfast_metrics_module)
endfunction()
