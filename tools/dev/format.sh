# ./dev format [--check]: lays out C++ sources with clang-format, version 14.
# shellcheck shell=bash

verb_format() {
  need check
  if [[ ${1:-} == --check ]]; then
    check_format
  else
    cpp_files | xargs -0 "$(clang_tool clang-format)" -i
  fi
}

check_format() { cpp_files | xargs -0 "$(clang_tool clang-format)" --dry-run --Werror; }

cpp_files() { git ls-files -z -c -o --exclude-standard '*.hpp' '*.cpp'; }

# Debian 12 has the version in the name of the tool; newer releases have only a newer version.
clang_tool() { command -v "$1-14" || command -v "$1"; }
