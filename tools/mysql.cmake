# The component holdfast::mysql: a separate library, so that only programs that use it link
# libmariadb. It uses internals of the core; both come from one build.
#
# holdfast_add_mysql(): if libmariadb is found, makes the targets holdfast_mysql, for users, and
# holdfast_mysql_internals, for the tests and the program. HOLDFAST_MYSQL=ON makes libmariadb
# mandatory.
set_property(CACHE HOLDFAST_MYSQL PROPERTY STRINGS AUTO ON OFF)

# A shared core hides its internals. So a shared component compiles the files that it needs once
# more. These files have no state that would have to be shared, and define nothing that the core
# exports. tests/package/symbols.sh checks this.
set(holdfast_inside_of_mysql
  src/net/deadlines.cpp src/net/endpoint.cpp src/net/tls.cpp
  src/runtime/blocking.cpp src/runtime/process.cpp
  src/store/remote/attempts.cpp src/store/remote/diagnostics.cpp src/store/remote/listing.cpp)

file(GLOB_RECURSE mysql_sources CONFIGURE_DEPENDS src/mysql/*.cpp src/store/mysql/*.cpp)
list(FILTER mysql_sources EXCLUDE REGEX "/src/mysql/(on_demand/|linked\\.cpp$)")
function(holdfast_mysql_library target)
  add_library(${target} ${ARGN})
  holdfast_add_sources(${target} ${mysql_sources})
  # In a separate target, because a program that loads libmariadb at run time uses another file
  # instead.
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src/mysql/linked.cpp")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} PRIVATE PkgConfig::LIBMARIADB OpenSSL::Crypto)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON DEFINE_SYMBOL ""
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

function(holdfast_add_mysql)
  if(NOT HOLDFAST_MYSQL)
    return()
  endif()
  holdfast_find_optional(LIBMARIADB mysql libmariadb "libmariadb>=3.3")
  if(NOT LIBMARIADB_FOUND)
    return()
  endif()
  holdfast_mysql_library(holdfast_mysql)
  target_link_libraries(holdfast_mysql PUBLIC holdfast)
  set_target_properties(holdfast_mysql PROPERTIES EXPORT_NAME mysql)
  add_library(holdfast::mysql ALIAS holdfast_mysql)
  if(BUILD_SHARED_LIBS)
    target_sources(holdfast_mysql PRIVATE ${holdfast_inside_of_mysql})
    holdfast_load_tls_on_demand(holdfast_mysql) # to check the certificate files of a URL
    holdfast_mysql_library(holdfast_mysql_internals STATIC EXCLUDE_FROM_ALL)
    target_link_libraries(holdfast_mysql_internals PUBLIC holdfast_internals)
  else()
    add_library(holdfast_mysql_internals ALIAS holdfast_mysql)
  endif()
endfunction()

# holdfast_load_mysql_on_demand(<program>): adds the component to the program, which loads
# libmariadb when the first URL needs it. If libmariadb and its OpenSSL were linked, each start
# would take twice as long.
function(holdfast_load_mysql_on_demand target)
  set(source "${PROJECT_SOURCE_DIR}/src/mysql/on_demand/loaded.cpp")
  target_sources(${target} PRIVATE "${source}")
  get_target_property(headers PkgConfig::LIBMARIADB INTERFACE_INCLUDE_DIRECTORIES)
  set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES
    INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/src;${headers}")
  target_link_libraries(${target} PRIVATE holdfast_mysql_internals ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE LINKER:--as-needed) # links libmariadb only if it is used
  target_compile_definitions(${target} PRIVATE HOLDFAST_WITH_MYSQL)
endfunction()
