#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py <build folder>: clang-tidy on the library's and the program's sources.

A file that was found clean is not looked at again until something changes: what it depends on, the
rules, or clang-tidy. The build folder is one of the dev preset, which lists each file.
"""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from clean_files import ROOT, CleanFiles, commands_of, each_file_check, needs_of

TOOL = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")


def check(clean: CleanFiles, by_itself: CleanFiles, path: Path, words: list[str], folder: Path,
          build: Path) -> bool:
    if clean.knows(path, words):
        return True
    result = subprocess.run(
        [TOOL, "--quiet", "-p", build, "--warnings-as-errors=*",
         "--extra-arg=-Wno-unknown-warning-option", path],  # the presets' are g++'s
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    is_clean = result.returncode == 0
    if is_clean:
        # Seldom anew: to find out takes a second of each file.
        needs = by_itself.needs(path, words) or needs_of(words, folder, str(path))
        clean.remember(path, words, needs)
    name = path.relative_to(ROOT)
    print(f"{name}: clean" if is_clean else f"{name}:\n{result.stdout}", flush=True)
    return is_clean


def main() -> int:
    build = Path(sys.argv[1])
    version = subprocess.run([TOOL, "--version"], check=True, capture_output=True).stdout
    clean = CleanFiles("clang-tidy", version + (ROOT / ".clang-tidy").read_bytes())
    commands = commands_of(build.resolve())
    by_itself = each_file_check(commands)
    ours = {path: how for path, how in commands.items()
            if path.is_relative_to(ROOT / "src") or path.is_relative_to(ROOT / "cli")}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda each: check(clean, by_itself, each[0], *each[1], build),
                                 ours.items()))
    print(f"clang-tidy: {len(verdicts)} files, {verdicts.count(False)} with findings")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
