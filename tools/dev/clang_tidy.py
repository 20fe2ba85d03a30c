#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py <build folder>: runs clang-tidy on the sources of the library and the program.

It looks at them in the units that they are compiled in (tools/units.cmake): most of its time goes
to Asio's templates, once for each unit. A unit that was found clean is not looked at again until
something changes: what it depends on, the rules, or clang-tidy. Nothing in the build folder has to
be built.
"""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from clean_files import ROOT, CleanFiles, commands_of, needs_of

TOOL = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
# Checks that make no sense for units: such includes, and equal names in two files, which do not
# hide each other in a unit. g++ checks for hidden names in each file.
NOT_IN_UNITS = ["--checks=-bugprone-suspicious-include", "--extra-arg=-Wno-shadow"]
# Options of g++ that clang does not know. It only warns of unknown warnings.
ONLY_GCC = {"-fno-ipa-ra"}


def is_product(path: Path) -> bool:
    """Returns whether the file belongs to the library or to the program."""
    return path.is_relative_to(ROOT / "src") or path.is_relative_to(ROOT / "cli")


def sources_in(path: Path) -> list[Path]:
    """Returns the sources that a unit includes; for any other file, the file itself."""
    if path.is_relative_to(ROOT) and path.parent.parent.name == "units":
        return [ROOT / name for name in re.findall(r'#include "(.*)"', path.read_text())]
    return [path]


def units_of_product(commands: dict) -> dict[Path, list[Path]]:
    """Returns each unit with its sources, once even if the library has several flavours."""
    units: dict[Path, list[Path]] = {}
    for path in sorted(commands):
        sources = sources_in(path)
        if all(is_product(each) for each in sources) and sources not in units.values():
            units[path] = sources
    return units


def check(clean: CleanFiles, path: Path, words: list[str], folder: Path) -> bool:
    if clean.knows(path, words):
        return True
    arguments = [word for word in words[1:] if word not in ONLY_GCC]
    result = subprocess.run(
        [TOOL, "--quiet", "--warnings-as-errors=*", *NOT_IN_UNITS, path, "--", *arguments,
         "-Wno-unknown-warning-option"],  # the presets have g++ options
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    is_clean = result.returncode == 0
    if is_clean:
        clean.remember(path, words, needs_of(words, folder, str(path)))
    name = path.relative_to(ROOT)
    print(f"{name}: clean" if is_clean else f"{name}:\n{result.stdout}", flush=True)
    return is_clean


def main() -> int:
    build = Path(sys.argv[1])
    version = subprocess.run([TOOL, "--version"], check=True, capture_output=True).stdout
    clean = CleanFiles("clang-tidy", version + (ROOT / ".clang-tidy").read_bytes())
    commands = commands_of(build.resolve())
    units = units_of_product(commands)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda each: check(clean, each, *commands[each]), units))
    files = sum(map(len, units.values()))
    print(f"clang-tidy: {files} files in {len(units)} units, {verdicts.count(False)} with findings")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
