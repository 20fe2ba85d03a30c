# ./dev sim: hostile worlds from seeds, as many as wanted. `./dev test` runs a fixed number of them.
# shellcheck shell=bash

verb_sim() {
  need build
  # The ci preset: optimised, so a second holds more worlds, and with assertions.
  stage "Building (ci)" build ci --target sim_explore
  build/ci/tests/sim/sim_explore "$@"
}
