# ./dev lint: checks that need no run: layout, scripts, comments, clang-tidy, the warnings of g++
# with full optimisation, and those of the fuzzers' compiler (clang). It also checks that each file
# compiles alone, as the dev preset requires. The first run takes minutes; later runs only check
# what changed.
# shellcheck shell=bash

verb_lint() {
  need build
  lint_quickly
  lint_thoroughly
  attempt "Listing each file (dev)" cmake --preset dev
  attempt "Each file by itself" python3 -B tools/dev/each_file.py build/dev
  attempt "Building (fuzz)" build_fuzzers
  stage_summary
  (($(failed_stages) == 0))
}

# The checks that take seconds come first.
lint_quickly() {
  need check fuzz docs
  attempt "clang-format" check_format
  attempt "Lua syntax" luac5.1 -p src/store/redis/scripts/*.lua src/store/redis/scripts/parts/*.lua
  attempt "The reference of the interface" make_reference
}

lint_thoroughly() {
  attempt "Listing the units (ci)" cmake --preset ci
  attempt "clang-tidy" python3 -B tools/dev/clang_tidy.py build/ci
  attempt "Building (release)" build release --target holdfast_cli
}
