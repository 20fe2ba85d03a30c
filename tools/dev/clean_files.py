# SPDX-License-Identifier: Apache-2.0
"""Remembers which files passed a check, until something changes on which they depend.

Asio makes each file cost seconds. What a file depends on is what the compiler said when the file
was checked: all headers, by their content where they are ours, by size and time where they are the
system's. Paths of this checkout are kept relative, so that another checkout knows the same files.
"""
import hashlib
import json
import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def commands_of(build: Path) -> dict[Path, tuple[list[str], Path]]:
    """Returns each source's compiler command, without output and launcher, and its folder."""
    commands: dict[Path, tuple[list[str], Path]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        output = words.index("-o")
        del words[output : output + 2]
        words = [word for word in words
                 if word not in ("-c", entry["file"]) and not word.endswith("ccache")]
        # The library is compiled more than once (flavours); the first command is used.
        commands.setdefault(Path(entry["file"]), (words, Path(entry["directory"])))
    return commands


@cache
def print_of(path: Path) -> str:
    try:
        if path.is_relative_to(ROOT):
            return hashlib.sha256(path.read_bytes()).hexdigest()
        state = path.stat()
        return f"{state.st_size} {state.st_mtime_ns}"
    except OSError:
        return "absent"


class CleanFiles:
    def __init__(self, check: str, tool: bytes) -> None:
        cache_folder = Path(os.environ.get("HOLDFAST_CACHE", Path.home() / ".cache/holdfast"))
        self.folder = cache_folder / check
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tool = tool

    def _place(self, path: Path, words: list[str]) -> Path:
        named = f"{path.relative_to(ROOT)}\0" + "\0".join(words).replace(str(ROOT), ".")
        return self.folder / hashlib.sha256(self.tool + named.encode()).hexdigest()

    def _digest(self, needs: list[str]) -> str:
        prints = "\0".join(print_of(ROOT / need) for need in needs)
        return hashlib.sha256(prints.encode()).hexdigest()

    def knows(self, path: Path, words: list[str]) -> bool:
        try:
            known = json.loads(self._place(path, words).read_text())
        except (OSError, ValueError):
            return False
        return known["digest"] == self._digest(known["needs"])

    def remember(self, path: Path, words: list[str], needs: list[Path]) -> None:
        ours = [str(need.relative_to(ROOT) if need.is_relative_to(ROOT) else need)
                for need in sorted(set(needs) | {path})]
        place = self._place(path, words)
        beside = place.with_suffix(f".{os.getpid()}-{id(ours)}")
        beside.write_text(json.dumps({"digest": self._digest(ours), "needs": ours}))
        beside.replace(place)  # by rename, because other processes read here too


def needs_of(words: list[str], folder: Path, source: str) -> list[Path]:
    """Returns the files that a source includes, as the compiler finds them."""
    made = subprocess.run([*words, "-M", source], cwd=folder, text=True, capture_output=True,
                          check=True).stdout
    return needs_in(made, folder)


def needs_in(rule: str, folder: Path) -> list[Path]:
    """Returns the files that are listed in a rule for make."""
    listed = rule.split(":", 1)[1].replace("\\\n", " ").split()
    return [(folder / name).resolve() for name in listed if name != "-"]
