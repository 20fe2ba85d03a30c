#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_pages.py <checkout> <holdfast>: does each command of these pages work as it is shown?

Each page has a folder of its own with a private server in it, which stands for the server that the
page names. Paths of programs are replaced too. What is run depends on the language of a block:

    sh           a script; it must succeed
    crontab      variables, and lines whose commands must succeed
    dockerfile   the ENTRYPOINT with its CMD must succeed, with what ENV says
    yaml         the commands under `script:` must succeed
    ini          a unit: its ExecStart must succeed, and systemd-analyze must find nothing

Where there is no sqlite3, Python's own stands for it.

A comment above a block names what it is kept as, or a program of the reader's that is called:

    <!-- file: nightly.sh -->      <!-- given: sync-stock -->
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import Block, Page

PAGES = ("howto/cron", "howto/leader-election", "howto/lock-a-script", "howto/systemd",
         "howto/containers-and-ci", "howto/keep-a-lock-between-steps",
         "howto/fencing", "howto/several-locks", "optimistic")
SERVER = "redis://db.internal"
FILE = re.compile(r"<!-- file: (\S+) -->\n+(?:<!-- .* -->\n+)*\Z")
GIVEN = re.compile(r"<!-- given: (\S+) -->")
CRON_LINE = re.compile(r"^(?:\S+ +){5}(\S.*)$")
SKIPPED = 77
PATIENCE_S = 60
SQLITE = """#!{python}
import sqlite3, sys
with sqlite3.connect(sys.argv[1], isolation_level=None) as base:
    for each in sys.argv[2].split(";"):
        for row in base.execute(each):
            print(*row, sep="|")
"""
# A reader's minute is long for a test.
SHORTER = {"--hold-for 1m": "--hold-for 100ms"}


class Commands:
    """What can be run of one page, and where."""

    def __init__(self, program: Path, folder: Path):
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "holdfast").symlink_to(program)
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        self.environment = {"PATH": f"{self.bin}:{os.environ['PATH']}",
                            "HOME": str(folder), "XDG_RUNTIME_DIR": str(runtime)}
        if shutil.which("sqlite3") is None:
            self.give("sqlite3", SQLITE.format(python=sys.executable))
        server = os.environ.get("HOLDFAST_REDIS_SERVER")
        if server:
            (self.bin / "redis-server").symlink_to(server)
        self.run(["holdfast", "run", "first", "true"])
        status = self.run(["holdfast", "server", "status", "--json"])
        # By another way to its socket: it stands for a server that is given, not the private one.
        (runtime / "given").symlink_to("holdfast")
        self.url = json.loads(status.stdout)["url"].replace("/holdfast/socket", "/given/socket")

    def run(self, words: list[str], more: dict[str, str] | None = None):
        return subprocess.run(words, cwd=self.folder, env={**self.environment, **(more or {})},
                              text=True, capture_output=True, timeout=PATIENCE_S, check=False)

    def give(self, name: str, text: str = "#!/bin/sh\nexit 0\n") -> None:
        for place in (self.bin / name, self.folder / name):
            place.write_text(text)
            place.chmod(0o755)

    def here(self, text: str) -> str:
        """With what stands here for the reader's own."""
        for shown, ours in {SERVER: self.url, "/usr/local/bin/": f"{self.bin}/",
                            "/usr/bin/holdfast": f"{self.bin}/holdfast", **SHORTER}.items():
            text = text.replace(shown, ours)
        return text

    def end(self) -> None:
        self.run(["holdfast", "server", "stop", "--force"])


def assignments(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in shlex.split(line))


def of_crontab(text: str) -> list[tuple[list[str], dict]]:
    found, variables = [], {}
    for line in text.splitlines():
        if task := CRON_LINE.match(line):
            found.append((["sh", "-c", task[1].replace("\\%", "%")], dict(variables)))
        else:
            variables |= assignments(line)
    return found


def of_dockerfile(text: str) -> list[tuple[list[str], dict]]:
    variables, entry, command = {}, [], []
    for line in text.splitlines():
        word, rest = line.split(" ", 1)
        if word == "ENV":
            variables |= assignments(rest)
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        elif word == "CMD":
            command = json.loads(rest)
        else:
            raise ValueError(f"what is {word}?")
    return [(entry + command, variables)]


def of_yaml(text: str) -> list[tuple[list[str], dict]]:
    """What the pages have: `NAME: "value"` under `variables:`, `- command` under `script:`."""
    variables = dict(re.findall(r'^    (\w+): "?([^"\n]*)"?$', text, re.MULTILINE))
    return [(["sh", "-c", command], {"HOLDFAST_URL": SERVER, **variables})
            for command in re.findall(r"^    - (.*)$", text, re.MULTILINE)]


def of_unit(text: str) -> list[tuple[list[str], dict]]:
    variables: dict[str, str] = {}
    for line in re.findall(r"^Environment=(.*)$", text, re.MULTILINE):
        variables |= assignments(line)
    return [(shlex.split(line), variables)
            for line in re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)]


KINDS = {"sh": lambda text: [(["sh", "-e", "-c", text], {})], "crontab": of_crontab,
         "dockerfile": of_dockerfile, "yaml": of_yaml, "ini": of_unit}


def unit_findings(commands: Commands, name: str) -> str:
    """Of systemd-analyze, if it is there; it does not need a running systemd."""
    if shutil.which("systemd-analyze") is None:
        return ""
    told = commands.run(["systemd-analyze", "verify", "--man=no", f"./{name}"])
    ours = [line for line in told.stderr.splitlines() if name in line]
    return "\n".join(ours) or (told.stderr if told.returncode else "")


def findings_of(page: Page, block: Block, commands: Commands) -> list[str]:
    above = page.text[:page.text.index("```" + block.language + "\n" + block.text)]
    name = FILE.search(above)
    text = commands.here(block.text)
    if name:
        (commands.folder / name[1]).write_text(text)
    findings = []
    if block.language == "ini":
        findings += [trouble for trouble in [unit_findings(commands, name[1])] if trouble]
    if name and block.language == "sh":
        return findings  # another block runs it
    for words, variables in KINDS[block.language](text):
        here = {key: commands.here(value) for key, value in variables.items()}
        ended = commands.run(words, here)
        if ended.returncode != 0:
            findings.append(f"{shlex.join(words)}\nends with {ended.returncode}: "
                            f"{ended.stdout}{ended.stderr}")
    return [f"{block.page}:{block.line}: {finding}" for finding in findings]


def check(page: Page, program: Path) -> tuple[int, list[str]]:
    count, findings = 0, []
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        commands = Commands(program, Path(folder))
        try:
            for name in GIVEN.findall(page.text):
                commands.give(name)
            for block in page.blocks():
                if block.language in KINDS:
                    count += 1
                    findings += findings_of(page, block, commands)
        finally:
            commands.end()
    return count, findings


def main() -> int:
    root, program = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    server = os.environ.get("HOLDFAST_REDIS_SERVER") or shutil.which("redis-server")
    if not server or not Path(server).exists():
        print("there is no redis-server")
        return 1 if os.environ.get("HOLDFAST_REQUIRE_SERVERS") == "1" else SKIPPED
    all_findings = []
    for name in PAGES:
        count, findings = check(Page(root, f"docs/{name}.md"), program)
        print(f"{name}: {count} blocks were run")
        all_findings += findings if count else [f"{name}: there is nothing to run"]
    print(*all_findings, sep="\n")
    return 1 if all_findings else 0


if __name__ == "__main__":
    sys.exit(main())
