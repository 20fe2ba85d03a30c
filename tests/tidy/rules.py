#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules about the code itself, run as a test: rules.py [<checkout>].

Each rule is a function that yields findings. What a rule must let pass is in EXCEPTIONS with its
reason; an exception that is not needed is a finding too. rules_test.py shows each rule something to
find.
"""
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from source import CPP, File, comments_of, files_of, functions_of, paragraphs_of

LINES_A_FUNCTION, COLUMNS, LINES_OF_README, WORDS_A_SENTENCE = 70, 100, 150, 30

# (rule, file, what the finding mentions, reason)
EXCEPTIONS: list[tuple[str, str, str, str]] = [
    ("include_direction", "src/store/mysql/transaction_guard.cpp", "sync/lock_handle.hpp",
     "a lease guards a transaction, and its hold names the owner"),
    ("banned_call", "include/holdfast/metrics/collector.hpp", "_clock::now",
     "the default of an option: a test gives its own clock"),
]

# Which folders of src/ a layer may include from; the deepest that matches a file counts. What is
# not here, such as src/*.cpp, which joins the layers together, may include all of src/.
LAYERS = {
    "src/sync": ("sync",),
    "src/compose": ("compose", "sync"),
    "src/runtime": ("runtime",),
    "src/net": ("net", "runtime"),
    "src/net/openssl": ("net",),
    "src/net/on_demand": ("net",),
    "src/redis": ("redis", "net", "runtime"),
    "src/zookeeper": ("zookeeper", "net", "runtime"),
    "src/store/remote": ("store/remote", "runtime"),
    "src/store/redis": ("store/redis", "store/remote", "redis", "net", "runtime"),
    "src/store/zookeeper": ("store/zookeeper", "store/remote", "zookeeper", "net", "runtime"),
    "src/metrics": ("metrics",),
    "src/mysql": ("mysql", "net", "runtime"),
    "src/store/mysql": ("store/mysql", "store/remote", "mysql", "net", "runtime"),
    "src/store/memory": ("store/memory", "store/remote", "runtime"),
    "include": (),
    "cli": ("cli",),
    "examples": (),
}

# These run unchanged in the simulator, so they must not be able to reach for the real world.
WORLD = re.compile(
    r"<boost/asio/(ip|local|posix|ssl|io_context|thread_pool|signal_set|[a-z_]*timer)\b"
    r"|<(hiredis|openssl|sys)/"
    r"|<(thread|unistd\.h|fcntl\.h|poll\.h|netdb\.h|random|fstream)>")

# Time, threads, randomness and the environment come from src/runtime: tests can then replace them.
BANNED_CALLS = {
    "reads a clock":
        r"_clock::now\b|\b(clock_gettime|gettimeofday|timespec_get)\b|\btime\((0|nullptr|&)",
    "sleeps": r"\b(sleep_for|sleep_until|nanosleep|usleep)\b|\bsleep\(",
    "starts a thread": r"\bstd::(jthread|async|thread)\b(?!::)|\bpthread_create\b",
    "draws randomness": r"\bstd::random_device\b|\b(getrandom|s?rand)\(",
    "reads the environment": r"\b(secure_)?getenv\b",
}

# Drawers, not ideas: a file that fits nowhere else has no idea yet.
BANNED_NAMES = {"util", "utils", "common", "helper", "helpers", "misc"}

# Coined words that the code has given up, each with the term of the field that replaced it. A
# plural and a member's trailing underscore count as the word.
REMOVED_WORDS = {
    "mouth": "command_connection", "ear": "subscriber", "lane": "blocking_connection",
    "loan": "borrowed_connection", "talker": "channel_handler", "introduction": "server_hello",
    "pursuit": "retry_loop", "roaming": "slot_subscription", "suspicion": "hang_detector",
    "household": "store_session", "custodian": "node_watcher", "sentry": "predecessor_watch",
    "tenure": "lock_handle", "wire_hold": "held_lock", "joint_hold": "composite_hold",
    "bell_wait": "wakeup_wait", "two_writes": "read_then_write",
    "lanes_max": "blocking_connections_max",
    "patience": "timeout",
    "inquiry": "member_requests", "ballot": "vote_options", "errand": "queued request",
    "heir": "next_owner", "company": "linked_holds", "displaced": "superseded",
    "rarities": "rare_fields", "rendezvous": "one_shot_result", "kept_event": "deferred_event",
    "residue": "leftovers", "surroundings": "environment", "own_entry": "this_thread_entry",
    "agenda": "schedule", "lookout": "deadline_timer", "surveyor": "topology_inspector",
    "dissent": "disagreement", "debt": "pending_reply", "denials": "missing_permissions",
    "portrait": "server_info", "judgement": "classification", "carrier": "pinned_connection",
    "call_wishes": "call_options", "renewal_wishes": "renewal_options",
    "client_card": "client_info", "visitor": "inline_caller", "entrance": "monitor",
    "corpse": "expired_session", "session_term": "session_lease", "doubter": "revalidator",
    "nail": "transaction_guard",
}
REMOVED = re.compile(rf"(?:\b|(?<=_))({'|'.join(REMOVED_WORDS)})s?_?\b")

# Which mirror a machine uses is its own affair.
MIRROR = re.compile(
    r"\b(deb|ftp|http|cdn|archive|ports|security|snapshot|mirrors?)[a-z0-9.-]*"
    r"\.(debian|ubuntu)\.[a-z]"
    r"|https?://[^\s/]+/(debian|ubuntu)(-security|-ports)?\b")


@dataclass
class Finding:
    rule: str
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text} [{self.rule}]"


def layer_of(file: File) -> str:
    return max((layer for layer in LAYERS if file.is_in(layer)), key=len, default="")


def include_direction(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        layer = layer_of(file)
        if file.suffix not in CPP or not layer:
            continue
        for line, target in file.includes:
            path = target[1:-1]
            if target[0] == '"' and not path.startswith(tuple(f"{f}/" for f in LAYERS[layer])):
                yield file, line, f"{layer} must not include {target}"
            if layer in ("src/sync", "src/compose") and WORLD.search(target):
                yield file, line, f"{layer} must not include {target}, the real world"


def banned_call(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        if file.suffix in CPP and file.is_in("src", "include") and not file.is_in("src/runtime"):
            for what, pattern in BANNED_CALLS.items():
                for match in re.finditer(pattern, file.code):
                    line = file.code.count("\n", 0, match.start()) + 1
                    yield file, line, f"{match[0]} {what}; only src/runtime does"


def closing(code: str, opening: int) -> int:
    """Where the parenthesis is closed that is opened there."""
    depth = 0
    for place in range(opening, len(code)):
        depth += (code[place] == "(") - (code[place] == ")")
        if depth == 0:
            return place
    return len(code)


def decides(code: str, after: int) -> bool:
    """Whether the expression that goes on there is what a ?: asks."""
    depth = 0
    for char in code[after:]:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0 or (depth == 0 and char in ";,?"):
            return depth == 0 and char == "?"
    return False


def conditional_awaits(code: str) -> Iterator[int]:
    """Where. What is named first within the head of an if, as `if (const bool a = …; a)`, is not
    in its condition."""
    for head in re.finditer(r"\b(?:if|while|switch)\s*\(", code):
        end = closing(code, head.end() - 1)
        start = max(head.end(), code.rfind(";", head.end(), end) + 1)
        yield from (wait.start() for wait in re.compile(r"\bco_await\b").finditer(code, start, end))
    for wait in re.finditer(r"\bco_await\b", code):
        before = re.split("[;{}]", code[:wait.start()])[-1]
        is_branch = re.search(r"(\?|&&|\|\||\?.*:)\s*$", before, re.DOTALL)
        if is_branch or decides(code, wait.end()):
            yield wait.start()


def await_in_condition(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        if file.suffix in CPP and file.is_in("src", "include", "cli"):
            lines = {file.code.count("\n", 0, at) + 1 for at in conditional_awaits(file.code)}
            for line in sorted(lines):
                yield file, line, "co_await in a condition: name its value first (g++ 12)"


def throwing_read(files: list[File]) -> Iterator[tuple[File, int, str]]:
    """This iterator throws if a read fails, as the read of a file in /proc does with ESRCH."""
    for file in files:
        if file.suffix in CPP and file.is_in("src", "cli"):
            for match in re.finditer(r"\bistreambuf_iterator\b", file.code):
                line = file.code.count("\n", 0, match.start()) + 1
                yield file, line, f"{match[0]} throws if a read fails; see cli/file_text.hpp"


def size(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        if not file.is_code:
            continue
        for number, line in enumerate(file.lines, 1):
            if len(line) > COLUMNS:
                yield file, number, f"{len(line)} columns; {COLUMNS} is the most"
        for function in functions_of(file) if file.suffix in CPP else ():
            if function.lines > LINES_A_FUNCTION:
                yield (file, function.first_line,
                       f"a function of {function.lines} lines; {LINES_A_FUNCTION} is the most")


def script_caller(files: list[File]) -> Iterator[tuple[File, int, str]]:
    sources = [file for file in files if file.suffix in CPP and file.is_in("src")]
    calls = Counter(name for file in sources for name in re.findall(r"\bscripts::(\w+)", file.code))
    scripts = [file for file in files if file.is_in("src/store/redis/scripts")]
    heads = [line.split() for file in scripts for line in file.lines if "-- uses:" in line]
    for file in scripts:
        name = Path(file.path).stem
        is_part = file.is_in("src/store/redis/scripts/parts")
        if is_part and not any(name in words for words in heads):
            yield file, 1, f"no script uses {name}"
        if not is_part and calls[name] != 1:
            yield file, 1, f"scripts::{name} has {calls[name]} callers in src, and not one"
        if not all(line.startswith("--") for line in file.lines[:2 if is_part else 3]):
            yield file, 1, "a script opens with what it does, its KEYS and ARGV, its answer"


def file_head(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        if file.suffix in CPP | {".c", ".h", ".py"}:
            if not any("SPDX-License-Identifier: Apache-2.0" in line for line in file.lines[:2]):
                yield file, 1, "no SPDX line at the top"
        if file.suffix in {".hpp", ".h"} and "#pragma once" not in file.lines:
            yield file, 1, "no #pragma once"


def unfinished(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        for number, line in enumerate(file.lines, 1) if file.is_code else ():
            mark = re.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", line)
            if mark and not file.is_in("tests/tidy"):  # which must name what it looks for
                yield file, number, f"{mark[0]} without an issue: write {mark[0]}(#number)"


def file_name(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        parts = re.split(r"[/_.-]", file.path.lower())
        for part in BANNED_NAMES.intersection(parts):
            yield file, 1, f'"{part}" names a drawer, not an idea'


def removed_word(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        if file.suffix in CPP and file.is_in("src", "include", "cli", "bench"):
            for match in REMOVED.finditer(file.code):
                line = file.code.count("\n", 0, match.start()) + 1
                yield file, line, f'"{match[1]}" is now {REMOVED_WORDS[match[1]]}'


def plain_sentence(files: list[File]) -> Iterator[tuple[File, int, str]]:
    """A program can find these of the rules in CONTRIBUTING.md, "Words"."""
    for file in files:
        if file.suffix in CPP and file.is_in("src", "include", "cli", "bench"):
            texts = comments_of(file)
        elif file.suffix == ".md" and (file.is_in("docs") or "/" not in file.path):
            texts = paragraphs_of(file)
        else:
            continue
        for line, text in texts:
            for sentence in sentences_in(text):
                for why in clumsy(sentence):
                    yield file, line, f"{why}: {sentence[:60]}"


def sentences_in(text: str) -> list[str]:
    """Code, the targets of links and texts in parentheses do not count. A colon and a semicolon end
    a sentence, too: a list may follow."""
    for pattern, instead in ((r"`[^`]*`|[\w:]+\(\)|docs/[\w./]+\w", "`code`"),
                             (r"\]\([^)]*\)", "]"), (r"\([^()]*\)", "")):
        text = re.sub(pattern, instead, text)
    return re.split(r"(?<=[.!?])[\"'*_]*\s+(?=[A-Z0-9`*_\[\"]|holdfast)|(?<=[:;])\s", text)


def clumsy(sentence: str) -> Iterator[str]:
    words = len(sentence.split())
    if words > WORDS_A_SENTENCE:
        yield f"{words} words; {WORDS_A_SENTENCE} is the most of a sentence"
    if re.match(r"(Of|By)\b(?! default)", sentence):
        yield 'a sentence begins with its subject, not with "Of" or "By"'
    if re.match(r"(Who|Whoever|What)\b", sentence) and not sentence.endswith("?"):
        yield 'name the subject instead of "who" or "what"'


def readme_length(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        if file.path == "README.md" and len(file.lines) > LINES_OF_README:
            yield file, LINES_OF_README, f"{len(file.lines)} lines; {LINES_OF_README} is the most"


def mirror_name(files: list[File]) -> Iterator[tuple[File, int, str]]:
    for file in files:
        for number, line in enumerate(file.lines, 1):
            if MIRROR.search(line) and not file.path.startswith("tests/tidy/"):
                yield file, number, "names a package mirror"


RULES = [include_direction, banned_call, removed_word, plain_sentence, size, script_caller,
         file_head, unfinished, file_name, readme_length, mirror_name, await_in_condition,
         throwing_read]


def findings_in(root: Path, exceptions=None) -> list[Finding]:
    files = files_of(root)
    found = [Finding(rule.__name__, file.path, line, text)
             for rule in RULES for file, line, text in rule(files)]
    for exception in EXCEPTIONS if exceptions is None else exceptions:
        rule, path, mentioned, _ = exception
        covered = [f for f in found if (f.rule, f.path) == (rule, path) and mentioned in f.text]
        if not covered:
            found.append(Finding("exception", path, 1, f"{rule}: nothing to except any more"))
        found = [f for f in found if f not in covered]
    return found


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    findings = findings_in(root)
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
