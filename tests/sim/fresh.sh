#!/bin/sh
# fresh.sh <sim_explore> <world>: plays seeds that no earlier run has played. The first seed is
# derived from the time. HOLDFAST_FRESH_SEEDS is the number of seeds; the plain world gets four
# times as many.
set -eu
seeds=${HOLDFAST_FRESH_SEEDS:-250}
from=${HOLDFAST_FRESH_FROM:-$(date +%s)00000}
if [ "$2" = plain ]; then
  set -- "$1" --jobs 1 --seeds $((seeds * 4)) --from "$from"
else
  set -- "$1" "--$2" --jobs 1 --seeds "$seeds" --from "$from"
fi
# malloc() keeps more freed blocks of each size at hand: a world frees and allocates all the time.
export GLIBC_TUNABLES=glibc.malloc.tcache_count=1000
echo "$*"
exec "$@"
