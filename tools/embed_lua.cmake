# embed_lua(<output> <file.lua>...): writes one `script` constant per file, with its SHA1, so that
# EVALSHA needs no hashing at run time. The text must reach the server byte for byte. So it is not
# passed through configure_file(), which would replace `@…@` in a script and change its digest.
#
# Code that several scripts share is a part: a script with the line `-- uses: one other` in its head
# gets parts/one.lua and parts/other.lua in front of it. The digest is that of the whole text.
function(embed_lua output)
  set(constants "")
  foreach(path IN LISTS ARGN)
    cmake_path(GET path STEM name)
    file(READ "${path}" text)
    set(parts "")
    if(text MATCHES "\n-- uses: ([a-z_ ]+)\n")
      string(REPLACE " " ";" used "${CMAKE_MATCH_1}")
      cmake_path(GET path PARENT_PATH folder)
      foreach(part IN LISTS used)
        file(READ "${folder}/parts/${part}.lua" part_text)
        string(APPEND parts "${part_text}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
          "${folder}/parts/${part}.lua")
      endforeach()
    endif()
    string(PREPEND text "${parts}")
    string(SHA1 sha1 "${text}")
    string(FIND "${text}" ")lua\"" end_of_literal)
    if(NOT end_of_literal EQUAL -1)
      message(FATAL_ERROR "${path} contains )lua\", which ends the literal it is embedded in")
    endif()
    string(APPEND constants "inline constexpr script ${name}{\"${name}\", \"${sha1}\",\n"
           "    R\"lua(${text})lua\"};\n\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  endforeach()
  file(WRITE "${output}.new"
       "// Written by tools/embed_lua.cmake from src/store/redis/scripts.\n"
       "#pragma once\n\n#include \"redis/client/resp.hpp\"\n\n"
       "namespace holdfast::redis::scripts {\n\n"
       "${constants}} // namespace holdfast::redis::scripts\n")
  file(COPY_FILE "${output}.new" "${output}" ONLY_IF_DIFFERENT)
endfunction()
