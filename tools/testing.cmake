# The component holdfast::testing: a lock server inside the process, for tests of programs that use
# holdfast. Only those tests link it.
#
# holdfast_add_testing(): makes the targets holdfast_testing, for users, and
# holdfast_testing_internals, for our own tests.

# A shared core hides its internals, so a shared component compiles what it needs once more (see
# holdfast_inside_of_mysql).
set(holdfast_inside_of_testing
  src/store/remote/attempts.cpp src/store/remote/listing.cpp)

file(GLOB testing_sources CONFIGURE_DEPENDS src/store/memory/*.cpp)
function(holdfast_testing_library target)
  add_library(${target} ${ARGN})
  holdfast_add_sources(${target} ${testing_sources})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  # A program that only uses URLs refers to no symbol of the component. So the linker is told to
  # require this symbol, whose initialiser adds the scheme memory: (src/store/memory/server.cpp).
  # Some compilers still drop a shared library that no object refers to.
  get_target_property(kind ${target} TYPE)
  set(keep_it "")
  if(kind STREQUAL "SHARED_LIBRARY")
    set(keep_it "--no-as-needed,")
  endif()
  target_link_options(${target} INTERFACE "LINKER:${keep_it}-u,holdfast_memory_scheme")
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON DEFINE_SYMBOL ""
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

function(holdfast_add_testing)
  holdfast_testing_library(holdfast_testing)
  target_link_libraries(holdfast_testing PUBLIC holdfast)
  set_target_properties(holdfast_testing PROPERTIES EXPORT_NAME testing)
  add_library(holdfast::testing ALIAS holdfast_testing)
  if(BUILD_SHARED_LIBS)
    target_sources(holdfast_testing PRIVATE ${holdfast_inside_of_testing})
    holdfast_testing_library(holdfast_testing_internals STATIC EXCLUDE_FROM_ALL)
    target_link_libraries(holdfast_testing_internals PUBLIC holdfast_internals)
  else()
    add_library(holdfast_testing_internals ALIAS holdfast_testing)
  endif()
endfunction()
