# ./dev format [--check]: the layout of C++ sources is clang-format's decision, version 14's.
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

# Debian 12 names its tools by version; newer releases have only a newer one.
clang_tool() { command -v "$1-14" || command -v "$1"; }
