#!/bin/sh
# fresh.sh <sim_explore> <kind>: runs simulations of this kind with new seeds, beginning with a seed
# from the current time. HOLDFAST_FRESH_SEEDS is the number of seeds; the kind "plain" gets four
# times as many.
set -eu
seeds=${HOLDFAST_FRESH_SEEDS:-250}
from=${HOLDFAST_FRESH_FROM:-$(date +%s)00000}
if [ "$2" = plain ]; then
  set -- "$1" --jobs 1 --seeds $((seeds * 4)) --from "$from"
else
  set -- "$1" "--$2" --jobs 1 --seeds "$seeds" --from "$from"
fi
# Let malloc() keep more freed blocks, because a simulation frees and allocates all the time.
export GLIBC_TUNABLES=glibc.malloc.tcache_count=1000
echo "$*"
exec "$@"
