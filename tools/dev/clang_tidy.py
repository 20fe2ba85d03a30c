#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py <build folder>: clang-tidy on the library's and the program's sources.

Asio makes each file cost seconds, so a file that was found clean is not looked at again until
something changes that it depends on: its preprocessed text (with comments, for NOLINT, and macros),
the rules, or clang-tidy.
"""
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("HOLDFAST_CACHE", Path.home() / ".cache/holdfast")) / "clang-tidy"
TOOL = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")


def fingerprint(command: dict, rules: bytes) -> str:
    words = shlex.split(command["command"])
    output = words.index("-o")
    del words[output : output + 2]
    words = [word for word in words if word != "-c" and not word.endswith("ccache")]
    # A file that does not even preprocess has a finding below.
    text = subprocess.run([*words, "-E", "-P", "-C", "-dD"], cwd=command["directory"],
                          capture_output=True).stdout
    return hashlib.sha256(rules + text).hexdigest()


def check(command: dict, rules: bytes, build: Path) -> bool:
    clean = CACHE / fingerprint(command, rules)
    if clean.exists():
        return True
    result = subprocess.run(
        [TOOL, "--quiet", "-p", build, "--warnings-as-errors=*", command["file"]],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    is_clean = result.returncode == 0
    if is_clean:
        clean.touch()
    name = Path(command["file"]).relative_to(ROOT)
    print(f"{name}: clean" if is_clean else f"{name}:\n{result.stdout}", flush=True)
    return is_clean


def main() -> int:
    build = Path(sys.argv[1])
    version = subprocess.run([TOOL, "--version"], check=True, capture_output=True).stdout
    rules = version + (ROOT / ".clang-tidy").read_bytes()
    ours = (ROOT / "src", ROOT / "cli")
    # The library is compiled more than once (flavours); its first command will do.
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        if any(folder in Path(command["file"]).parents for folder in ours):
            commands.setdefault(command["file"], command)
    CACHE.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda command: check(command, rules, build), commands.values()))
    print(f"clang-tidy: {len(verdicts)} files, {verdicts.count(False)} with findings")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
