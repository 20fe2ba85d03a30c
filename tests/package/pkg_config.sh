#!/usr/bin/env bash
# pkg_config.sh <prefix> <compiler> <program> [<package> <source>]: builds the consumer as
# pkg-config says, and runs it.
set -euo pipefail
prefix=$1 compiler=$2 program=$3 package=${4:-holdfast} source=${5:-main.cpp}

pc_file=$(find "$prefix" -name holdfast.pc)
library_folder=$(dirname "$(dirname "$pc_file")")
export PKG_CONFIG_PATH="$library_folder/pkgconfig"
read -r -a flags <<< "$(pkg-config --cflags --libs "$package >= 0.1")"

mkdir -p "$(dirname "$program")"
"$compiler" -std=c++20 "$(dirname "$0")/consumer/$source" -o "$program" "${flags[@]}"
LD_LIBRARY_PATH="$library_folder" "$program"
