#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""contents.py [<checkout>]: lists pages of docs/ that are missing from the site's sidebar, and
entries of the sidebar that lead to no page.

The sidebar is tools/docs/contents.md. An entry is a page without its suffix, `Title <page>`, or a
pattern such as docs/protocol/*.
"""
import re
import sys
from pathlib import Path, PurePosixPath

TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SIDEBAR = "tools/docs/contents.md"


def entries_of(text: str) -> list[str]:
    lines = [line for tree in TREE.findall(text) for line in tree.splitlines()]
    return [line.rpartition("<")[2].rstrip("> ") for line in lines
            if line and not line.startswith(":")]


def findings_in(root: Path) -> list[str]:
    entries = entries_of((root / SIDEBAR).read_text(encoding="utf-8"))
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("tools/docs/*.md")]
    names = sorted(page.relative_to(root).with_suffix("").as_posix() for page in pages)
    # ./dev docs makes the site's first page of README.md and the sidebar.
    wanted = [name for name in names if name != "README" and not name.startswith("tools/")]
    known = {*wanted, *(name.removeprefix("tools/docs/") for name in names)}
    findings = [f"{name}.md is not in {SIDEBAR}" for name in wanted
                if not any(PurePosixPath(name).match(entry) for entry in entries)]
    return findings + [f"{SIDEBAR}: {entry} leads to no page" for entry in entries
                       if not any(PurePosixPath(name).match(entry) for name in known)]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    findings = findings_in(root)
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
