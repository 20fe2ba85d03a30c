# The component holdfast::mysql: a library beside the core, which links libmariadb. It uses the
# core's inside, so both come from one build.
#
# holdfast_add_mysql(): makes the targets holdfast_mysql and holdfast_mysql_internals, where
# libmariadb is found; HOLDFAST_MYSQL=ON insists on it.
set_property(CACHE HOLDFAST_MYSQL PROPERTY STRINGS AUTO ON OFF)

function(holdfast_add_mysql)
  if(NOT HOLDFAST_MYSQL)
    return()
  endif()
  if(HOLDFAST_MYSQL STREQUAL "AUTO")
    pkg_check_modules(LIBMARIADB IMPORTED_TARGET GLOBAL "libmariadb>=3.3")
    if(NOT LIBMARIADB_FOUND)
      message(STATUS "holdfast::mysql is left out: there is no libmariadb")
      return()
    endif()
  else()
    pkg_check_modules(LIBMARIADB REQUIRED IMPORTED_TARGET GLOBAL "libmariadb>=3.3")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/src/mysql/*.cpp" "${PROJECT_SOURCE_DIR}/src/store/mysql/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(holdfast_mysql STATIC)
  holdfast_add_sources(holdfast_mysql ${sources})
  target_include_directories(holdfast_mysql PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(holdfast_mysql PUBLIC holdfast_internals PRIVATE PkgConfig::LIBMARIADB)
  set_target_properties(holdfast_mysql PROPERTIES POSITION_INDEPENDENT_CODE ON)
  add_library(holdfast::mysql ALIAS holdfast_mysql)
endfunction()
