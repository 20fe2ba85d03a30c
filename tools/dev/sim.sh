# ./dev sim: plays any number of simulated worlds with faults. `./dev test` plays a fixed number.
# shellcheck shell=bash

verb_sim() {
  need build
  # The ci preset is optimised, so it plays more worlds in a second, and has assertions.
  stage "Building (ci)" build ci --target sim_explore
  # malloc() keeps more freed blocks of each size at hand: a world frees and allocates all the time.
  GLIBC_TUNABLES=glibc.malloc.tcache_count=1000 build/ci/tests/sim/sim_explore "$@"
}
