#!/usr/bin/env bash
# symbols.sh <shared library> [<namespace>]: what it defines for others is holdfast's, or it would
# get in the way of other libraries in the same program. Weak symbols are templates and inline
# functions of Boost and std: Asio means them to be shared, since an executor of the user's is used
# on both sides. With a namespace, its functions are of that alone: a component that had some of the
# core's once more would not share with the core what both must share.
set -euo pipefail

exported=$(nm --dynamic --demangle --defined-only "$1" | sed 's/ T non-virtual thunk to / T /')
strangers=$(grep -v ' [VWu] ' <<< "$exported" | grep -v holdfast || true)
if [[ -n $strangers ]]; then
  printf '%s exports what is not holdfast:\n%s\n' "$1" "$strangers"
  exit 1
fi
own=${2:-holdfast}::
others=$(grep ' T ' <<< "$exported" | grep -v " T $own" || true)
if [[ $# -gt 1 && -n $others ]]; then
  printf '%s exports what is not of %s:\n%s\n' "$1" "$2" "$others"
  exit 1
fi
grep -q " T $own" <<< "$exported" || {
  printf '%s exports no function of holdfast\n' "$1"
  exit 1
}
