# Run by `cmake --install` on the installed pages in ${documents}. Only the pages and the examples
# of the source tree are installed, so a link to any other file is replaced by the file's name.
file(GLOB pages RELATIVE "${source}" "${source}/*.md")
file(GLOB_RECURSE below RELATIVE "${source}" "${source}/docs/*.md")

# Matches a link's target in parentheses. The replacement checks that a link's text precedes it,
# because CMake's lists cannot contain a single bracket.
function(name_sources_in page)
  file(READ "${documents}/${page}" before)
  set(text "${before}")
  string(REGEX MATCHALL "\\([^() ;\n]+\\)" targets "${text}")
  list(REMOVE_DUPLICATES targets)
  foreach(target IN LISTS targets)
    string(REGEX REPLACE "^\\(([^#]*).*\\)$" "\\1" path "${target}")
    cmake_path(GET page PARENT_PATH from)
    cmake_path(APPEND from "${path}" OUTPUT_VARIABLE path)
    cmake_path(NORMAL_PATH path)
    if(EXISTS "${source}/${path}" AND NOT EXISTS "${documents}/${path}")
      string(REGEX REPLACE "([][.+*?^$()|\\])" "\\\\\\1" exactly "${target}")
      string(REPLACE "[${path}]${target}" "`${path}` of the source tree" text "${text}")
      string(REGEX REPLACE "\\[([^]]*)\\]${exactly}" "\\1 (`${path}` of the source tree)"
                           text "${text}")
    endif()
  endforeach()
  if(NOT text STREQUAL before)
    file(WRITE "${documents}/${page}" "${text}")
  endif()
endfunction()

foreach(page IN LISTS pages below)
  name_sources_in("${page}")
endforeach()
