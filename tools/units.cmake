# Compiles many files as one. Asio's templates are parsed, instantiated and compiled again for each
# unit, which is most of the work. 250 KB of the library together take a seventh of the time that
# sixty files take one by one, and 1.5 GB of memory. CMake's own unity builds write absolute paths
# into the units, so two checkouts could not share ccache's results. These units have relative
# paths.
#
# Therefore names in the anonymous namespaces of one folder must differ from file to file. ./dev
# lint (tools/dev/each_file.py) and the dev preset check that each file compiles alone.
set(HOLDFAST_UNIT_KILOBYTES 250 CACHE STRING "Source text compiled as one; 0: each file alone")
mark_as_advanced(HOLDFAST_UNIT_KILOBYTES)

# holdfast_add_sources(<target> <source>...): adds the sources, as units if that is enabled.
function(holdfast_add_sources target)
  if(HOLDFAST_UNIT_KILOBYTES EQUAL 0)
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  math(EXPR bytes_max "${HOLDFAST_UNIT_KILOBYTES} * 1000")
  set(folder "${PROJECT_BINARY_DIR}/units/${target}")
  set(number 0)
  while(ARGN)
    set(text "")
    set(bytes 0)
    while(ARGN AND bytes LESS bytes_max)
      list(POP_FRONT ARGN source)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
      set(size 12000) # of a file that the build writes
      if(EXISTS "${source}")
        file(SIZE "${source}" size)
      endif()
      math(EXPR bytes "${bytes} + ${size}")
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
      string(APPEND text "#include \"${source}\"\n")
    endwhile()
    file(CONFIGURE OUTPUT "${folder}/unit_${number}.cpp" CONTENT "${text}" @ONLY)
    target_sources(${target} PRIVATE "${folder}/unit_${number}.cpp")
    math(EXPR number "${number} + 1")
  endwhile()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  # The frame of a coroutine has fields of unnamed types. The compiler accepts them only in its main
  # file, and may take any other file for a header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    # tests/mutants links other versions of single functions. With this option, a caller does not
    # depend on which registers the first version has changed.
    target_compile_options(${target} PRIVATE -fno-ipa-ra)
  endif()
endfunction()
