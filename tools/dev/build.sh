# ./dev build [preset] and ./dev clean.
# shellcheck shell=bash

verb_build() {
  local preset=${1:-dev}
  need build
  stage "Building ($preset)" build "$preset"
}

verb_clean() { rm -rf build; }

# build <preset> [<cmake --build option>...]
build() {
  local preset=$1
  shift
  # The build itself notices whatever else changes, but not the presets that it came from.
  if [[ ! build/$preset/build.ninja -nt CMakePresets.json ]]; then
    cmake --preset "$preset"
  fi
  NINJA_STATUS="[%f/%t %es] " cmake --build --preset "$preset" "$@"
}
