# embed_lua(<output> <file.lua>...): writes one `script` constant per file, with its SHA1, so that
# EVALSHA needs no hashing at run time. The text must reach the server byte for byte, so it is not
# passed through configure_file(), which would eat `@…@` in a script and change its digest.
function(embed_lua output)
  set(constants "")
  foreach(path IN LISTS ARGN)
    cmake_path(GET path STEM name)
    file(READ "${path}" text)
    file(SHA1 "${path}" sha1)
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
       "#pragma once\n\n#include \"redis/script.hpp\"\n\n"
       "namespace holdfast::redis::scripts {\n\n"
       "${constants}} // namespace holdfast::redis::scripts\n")
  file(COPY_FILE "${output}.new" "${output}" ONLY_IF_DIFFERENT)
endfunction()
