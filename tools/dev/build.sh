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
  # Once it is configured, the build itself decides whether that is still good.
  if [[ ! -e build/$preset/build.ninja ]]; then
    cmake --preset "$preset"
  fi
  NINJA_STATUS="[%f/%t %es] " cmake --build --preset "$preset" "$@"
}
