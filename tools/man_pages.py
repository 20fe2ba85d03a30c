#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages: man_pages.py <holdfast> <holdfast.1> <folder>.

The page of a verb is its --help in mdoc(7), so the two cannot differ. A help text has this form:
paragraphs, `Usage:`, options, paragraphs, `Environment of ...:`, `Exit status:`, `Example:` or
`Examples:`.
"""
import re
import subprocess
import sys
from pathlib import Path

ITEM = re.compile(r"^ {2,6}(?P<name>\S(?:.*?\S)??)(?:\s{2,}(?P<text>\S.*))?$")
OPTION = re.compile(r"^ {2,6}-")
FOLLOWS = re.compile(r"^ {7,}\S")
VARIABLES = re.compile(r"^Environment of .*:$")
HEADINGS = {"Exit status:": "EXIT STATUS", "Example:": "EXAMPLES", "Examples:": "EXAMPLES"}


def said_by(program: str, *arguments: str) -> list[str]:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True,
                          encoding="utf-8").stdout.splitlines()


def plain(line: str) -> str:
    """Escapes a line, so that no part of it is a request of mdoc."""
    line = line.replace("\\", "\\e")
    return "\\&" + line if line.startswith((".", "'")) else line


def text(*lines: str) -> list[str]:
    """Formats a paragraph, one line per sentence, so that mdoc knows where sentences end."""
    words = " ".join(line.strip() for line in lines)
    return [plain(sentence) for sentence in re.split(r"(?<=[.!?]) +(?=[A-Z])", words)]


def literal(line: str) -> str:
    return plain(line).replace("-", "\\-")


def name_of(item: str) -> str:
    """Formats an option such as `-w, --wait SECONDS` as the arguments of .It."""
    words = []
    for word in item.split():
        bare = word.rstrip(",")
        if bare.startswith("--"):
            words += ["Fl", "Fl", bare[2:]] if bare != "--" else ["Fl", "Fl"]
        elif bare.startswith("-"):
            words += ["Fl", bare[1:]]
        else:
            words += ["Ar" if bare.isupper() else "No", '"' + plain(bare) + '"']
        words += [","] if word != bare else []
    return " ".join(words)


def variable(item: str) -> str:
    """Formats variables such as `ONE, OTHER` as the arguments of .It."""
    return "Ev " + item.replace(", ", " , Ev ")


def items(lines: list[str], title) -> list[str]:
    """Formats a list. A line with more indentation belongs to the item before it."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if found and FOLLOWS.match(line):
            found[-1][1].append(line)
        else:
            item = ITEM.match(line)
            found.append((item["name"], [item["text"]] if item["text"] else []))
    made = [".Bl -tag -width Ds"]
    for name, about in found:
        made += [f".It {title(name)}", *text(*about)]
    return made + [".El"]


def blocks(lines: list[str]) -> list[list[str]]:
    all_blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            all_blocks[-1].append(line)
        elif all_blocks[-1]:
            all_blocks.append([])
    return [block for block in all_blocks if block]


def status(lines: list[str]) -> list[str]:
    """Formats exit statuses: numbers are items, and the text before them is a paragraph."""
    first = next(i for i, line in enumerate(lines) if re.match(r"^ +\d+ ", line))
    return (text(*lines[:first]) if first else []) + items(lines[first:], str)


def block_as_mdoc(block: list[str]) -> list[str]:
    head, rest = block[0], block[1:]
    if head in HEADINGS:
        made = [f".Sh {HEADINGS[head]}"]
        if head == "Exit status:":
            return made + status(rest)
        return made + [".Bd -literal -offset indent", *(literal(line[2:]) for line in rest), ".Ed"]
    if VARIABLES.match(head):
        return [".Pp", *text(head), *items(rest, variable)]
    if any(OPTION.match(line) for line in block):
        return items(block, name_of)
    if head.startswith("  "):
        return [".Bd -literal -offset indent", *(literal(line[2:]) for line in block), ".Ed"]
    return [".Pp", *text(*block)]


def synopsis(usage: list[str], verb: str) -> list[str]:
    """Formats the synopsis, one form per line."""
    return [line for form in usage for line in form_as_mdoc(form, verb)]


def form_as_mdoc(form: str, verb: str) -> list[str]:
    words = []
    for word in form.removeprefix("Usage:").strip().removeprefix(f"holdfast {verb}").split():
        optional = word.startswith("[")
        bare = word.strip("[]")
        shown = name_of(bare.removesuffix("...")) + (" ..." if bare.endswith("...") else "")
        words.append((".Op " if optional else ".") + shown)
    return [".Nm holdfast", f".Cm {verb}", *words]


def page(program: str, verb: str, summary: str, date: str) -> str:
    parts = blocks(said_by(program, verb, "--help"))
    usage = next(part for part in parts if part[0].startswith("Usage: "))
    about = [line for part in parts if part is not usage for line in block_as_mdoc(part)]
    # The first paragraph follows its heading, and a list its paragraph.
    made = [f".Dd {date}", f".Dt HOLDFAST-{verb.upper()} 1", ".Os", ".Sh NAME",
            f".Nm holdfast-{verb}", f".Nd {summary}", ".Sh SYNOPSIS", *synopsis(usage, verb),
            ".Sh DESCRIPTION", *about[1:], ".Sh SEE ALSO", ".Xr holdfast 1"]
    return "\n".join(made) + "\n"


def main() -> None:
    program, overview, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    whole = overview.read_text(encoding="utf-8")
    date = re.search(r"^\.Dd (.*)$", whole, re.M)[1]
    listed = (re.match(r"^  ([a-z]+) {2,}(\S.*)$", line) for line in said_by(program, "--help"))
    verbs = {found[1]: found[2] for found in listed if found}

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("holdfast*.1"):
        old.unlink()
    for verb, summary in verbs.items():
        made = page(program, verb, summary, date)
        (folder / f"holdfast-{verb}.1").write_text(made, encoding="utf-8")
    tags = "\n".join(f".It Xr holdfast-{verb} 1\n{plain(summary)}"
                     for verb, summary in verbs.items())
    (folder / "holdfast.1").write_text(whole.replace("@VERBS@", tags), encoding="utf-8")


if __name__ == "__main__":
    main()
