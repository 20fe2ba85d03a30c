#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""each_file.py <build folder>: checks that each source and each header compiles alone.

Builds compile many files as one, where a file finds what another has included. Here each is parsed
alone, and a header twice in one file; a private header that its source includes first is parsed
with that. A file that was found well is not looked at again until something changes that it depends
on. The build folder is one of the dev preset, which lists each file; nothing in it has to be built.
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import NamedTemporaryFile

from clean_files import ROOT, CleanFiles, commands_of, needs_in


def headers() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard", "*.hpp"],
                            cwd=ROOT, text=True, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).exists()]


def included_first(source: Path) -> Path | None:
    """Returns the private header that a source includes first."""
    named = re.search(r'^#include ["<](.*)[">]$', source.read_text(), re.MULTILINE)
    folders = (ROOT / name for name in ("src", "tests", "."))
    found = (folder / named[1] for folder in folders) if named else ()
    return next((path for path in found if path.exists()), None)


def nearest(header: Path, commands: dict) -> tuple[list[str], Path]:
    """Returns the source nearest to the header's path; for a public header, a user's source."""
    def shared(source: Path) -> int:
        return len(os.path.commonpath([header, source]))
    best = max(sorted(commands), key=shared)
    if header.is_relative_to(ROOT / "include"):
        examples = ROOT / "examples"
        best = next(each for each in sorted(commands) if each.is_relative_to(examples))
    return commands[best]


def compiles(clean: CleanFiles, path: Path, words: list[str], folder: Path) -> bool:
    if clean.knows(path, words):
        return True
    is_header = path.suffix == ".hpp"
    text = f'#include "{path}"\n' * 2 if is_header else None
    source = "-" if is_header else str(path)
    language = ["-x", "c++"] if is_header else []
    with NamedTemporaryFile(suffix=".d") as made:
        how = [*language, "-fsyntax-only", "-MD", "-MF", made.name]
        result = subprocess.run([*words, *how, source], cwd=folder, input=text, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            print(f"{path.relative_to(ROOT)} does not compile by itself:\n{result.stdout}",
                  flush=True)
            return False
        clean.remember(path, words, needs_in(Path(made.name).read_text(), folder))
    return True


def files_in(commands: dict) -> dict:
    """Returns the files to parse, each with its command."""
    sources = {path: how for path, how in commands.items()
               if path.is_relative_to(ROOT) and path.suffix == ".cpp"
               and not path.is_relative_to(ROOT / "build")}  # mutated copies
    seen = {included_first(source) for source in sources}
    return sources | {header: nearest(header, sources) for header in headers()
                      if header not in seen}


def main() -> int:
    commands = commands_of(Path(sys.argv[1]).resolve())
    all_files = files_in(commands)
    version = subprocess.run([next(iter(commands.values()))[0][0], "--version"], check=True,
                             capture_output=True).stdout
    clean = CleanFiles("each-file", version)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda each: compiles(clean, each[0], *each[1]),
                                 all_files.items()))
    print(f"{len(verdicts)} files, {verdicts.count(False)} do not compile by themselves")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
