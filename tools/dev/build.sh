# ./dev build [preset] [--timings] and ./dev clean.
# shellcheck shell=bash

verb_build() {
  local preset=dev timings='' word
  for word in "$@"; do
    case $word in
      --timings) timings=yes ;;
      dev | release | asan | tsan | ci) preset=$word ;;
      *) die "./dev build knows the presets dev, release, asan, tsan and ci, and --timings," \
        "not '$word'" ;;
    esac
  done
  need build
  stage "Building ($preset)" build "$preset"
  [[ -z $timings ]] || python3 tools/dev/timings.py "build/$preset"
}

verb_clean() { rm -rf build; }

# build <preset> [<cmake --build option>...]
build() {
  local preset=$1
  shift
  # The build itself notices all other changes, but not a change of the presets.
  if [[ ! build/$preset/build.ninja -nt CMakePresets.json ]]; then
    cmake --preset "$preset"
  fi
  # As many compilers as cores: more would need more memory without being faster.
  NINJA_STATUS="[%f/%t %es] " cmake --build --preset "$preset" --parallel "$(nproc)" "$@"
}
