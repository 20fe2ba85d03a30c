# SPDX-License-Identifier: Apache-2.0
"""What the rules look at: the files of a checkout, and C++ without its comments and strings."""
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CODE = {".hpp", ".cpp", ".h", ".c", ".lua", ".py", ".sh", ".cmake"}
CPP = {".hpp", ".cpp"}
NOT_OURS = {".git", "build", "__pycache__"}

# Comments, raw strings, strings and characters. An apostrophe in 1'000 is none of these.
SILENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"'
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)


@dataclass
class File:
    root: Path
    path: str  # from the root, with slashes

    @cached_property
    def text(self) -> str:
        return (self.root / self.path).read_text(encoding="utf-8", errors="replace")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def code(self) -> str:
        """The text with comments and strings emptied; every line keeps its number."""
        return SILENT.sub(lambda match: '""' + "\n" * match[0].count("\n"), self.text)

    @cached_property
    def includes(self) -> list[tuple[int, str]]:
        """(line, target with its quotes or brackets)"""
        found = re.finditer(r'^\s*#\s*include\s*([<"][^>"]+[>"])', self.text, re.MULTILINE)
        return [(self.line_at(match.start(1)), match[1]) for match in found]

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    @property
    def is_code(self) -> bool:
        return self.suffix in CODE or Path(self.path).name in ("CMakeLists.txt", "dev")

    def is_in(self, *folders: str) -> bool:
        return any(self.path.startswith(folder + "/") for folder in folders)

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1


def files_of(root: Path) -> list[File]:
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        files += [File(root, (Path(folder) / name).relative_to(root).as_posix()) for name in names]
    return sorted((file for file in files if (root / file.path).is_file()), key=lambda f: f.path)


def comments_of(file: File) -> list[tuple[int, str]]:
    """The comments of a C++ file: (first line, text). Indented lines are tables, and no text."""
    found: list[tuple[int, str]] = []
    block: list[str] = []
    for number, line in enumerate([*file.lines, ""], 1):
        comment = re.match(r"\s*//+<?\s?(.*)", line)
        text = comment[1] if comment and "SPDX" not in line else ""
        is_table = text.startswith("   ")
        if block and (not text.strip() or is_table or text.startswith("- ")):
            found.append((number - len(block), " ".join(block)))
            block = []
        if text.strip() and not is_table:
            block.append(text.strip().removeprefix("- "))
    return found


def paragraphs_of(file: File) -> list[tuple[int, str]]:
    """The paragraphs and list items of a page: (first line, text), without tables and code."""
    found: list[tuple[int, str]] = []
    block: list[str] = []
    fenced = False
    for number, line in enumerate([*file.lines, ""], 1):
        text = line.strip()
        fenced ^= text.startswith("```")
        item = re.match(r"([-*]|\d+\.) ", text)
        is_code = fenced or line.startswith("    ") and not block
        no_text = is_code or not text or text.startswith(("#", "|", "```", "<", "!["))
        if block and (no_text or item):
            found.append((number - len(block), " ".join(block)))
            block = []
        if not no_text:
            block.append(text[item.end():] if item else text)
    return found


@dataclass
class Function:
    first_line: int
    lines: int


def functions_of(file: File) -> list[Function]:
    """Bodies of functions, found by their braces in code laid out by clang-format."""
    found: list[Function] = []
    open_braces: list[tuple[str, int]] = []  # (kind, line)
    head, line = "", 1
    for previous, char in zip(" " + file.code, file.code):
        line += char == "\n"
        if char == "{":
            kind = kind_of(head, previous, [kind for kind, _ in open_braces])
            open_braces.append((kind, line))
            head = head + " " if kind == "value" else ""
        elif char == "}" and open_braces:
            kind, began = open_braces.pop()
            if kind == "function":
                found.append(Function(began, line - began + 1))
            head = head if kind == "value" else ""
        elif char == ";":
            head = ""
        else:
            head += char
    return found


def kind_of(head: str, previous: str, around: list[str]) -> str:
    if "function" in around:
        return "block"
    if not previous.isspace() or head.rstrip().endswith(("=", ",", "(", "return")):
        return "value"  # clang-format puts a space before every body
    if re.search(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$", head):
        return "scope"
    return "function" if "(" in head else "block"
