# Run by `cmake --install` on the pages that it has laid down in ${documents}. Of the source tree
# only the pages and the examples are there: a link to anything else becomes words with its name.
file(GLOB pages RELATIVE "${source}" "${source}/*.md")
file(GLOB_RECURSE below RELATIVE "${source}" "${source}/docs/*.md")

# What is in parentheses; that it follows a link's text is left to the replacement, since CMake's
# lists do not survive a bracket alone.
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
