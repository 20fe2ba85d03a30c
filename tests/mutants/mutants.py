#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults in a copy of the sources, and checks that a test finds each of them.

    mutants.py --check              checks the tables against the sources and tests; needs no build
    mutants.py --files              prints the sources that have faults
    mutants.py --programs           prints the test programs that find them
    mutants.py --with               prints the sources that are compiled with the copies
    mutants.py --copy FOLDER        writes their mutated copies; each fault has a switch at run time
    mutants.py --run FOLDER [--only NAME] [--aloud]
                                    runs the test of each fault with the programs in FOLDER

The faults are in tables/*.txt:

    by redis_test                   the program that the tests below belong to, or: by sim
    in src/redis/client/blocking_connections.cpp     the file that the texts below are in

    lane_confirms_nothing: ConfirmedLane.AsksTheReplicasInTheSameWrite
    - asked.options.replicas > 0     the original text, which must occur exactly once
    + false                         the mutated text; none if it is left out

A fault of the simulator names its worlds instead of a test: `single`, `quorum`, and so on. A fault
may have several texts, in several files. White space in an original text matches any white space.

`with src/...cpp` names a source without faults that is compiled again, because it uses a template
of a header that has some.

A text with a semicolon is a statement, `if (...)` is the head of one, and any other is an
expression. A mutated text that contains MUTANT replaces the original as it is, and
MUTANT becomes the condition that the fault is switched on.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = Path(__file__).resolve().parent / "tables"

WORLDS = ("single", "together", "quorum", "replicas", "sessions")
SEEDS = {"single": 1500}  # in which a fault must be found
SEEDS_OF_SEVERAL = 500  # these worlds are larger: a fault is found sooner there, or never
SEEDS_WITHOUT_FAULT = 10  # of each world; the layer `sim` plays more
SECONDS_MAX = 20  # a test that does not end in this time has found the fault
SECONDS_OF_HUNT_MAX = 300


class Wrong(Exception):
    """The tables do not fit the sources."""


class Mutant:
    def __init__(self, name, program, finders, line):
        self.name, self.program, self.finders, self.line = name, program, finders, line
        self.places = []  # (file, original, mutated)

    @property
    def number(self):
        """Depends only on the name, so that a new row does not change how other rows compile."""
        return zlib.crc32(self.name.encode()) & 0x7FFFFFFF

    @property
    def condition(self):
        return f"(::holdfast_mutant == {self.number})"


def sources_with(path):
    """Returns the sources that a table asks to compile again."""
    return re.findall(r"^with (\S+)$", path.read_text(), re.MULTILINE)


def read_table(path):
    program, file, mutant, old, new = None, None, None, [], []
    found = []

    def end_place():
        if old:
            mutant.places.append((file, "\n".join(old), "\n".join(new)))
        elif new:
            raise Wrong(f"{path.name}: {mutant.name}: a mutated text without an original")
        old.clear()
        new.clear()

    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if not line.strip() or line.startswith(("#", "with ")):
            end_place()
        elif line.startswith("by "):
            end_place()
            program = line[3:].strip()
        elif line.startswith("in "):
            end_place()
            file = line[3:].strip()
        elif line.startswith("-"):
            if new:
                end_place()
            if not mutant or not file:
                raise Wrong(f"{where}: a text without a fault or a file")
            old.append(line[2:])
        elif line.startswith("+"):
            new.append(line[2:])
        elif re.match(r"\w+: \S", line) and program:
            end_place()
            name, finders = line.split(": ", 1)
            mutant = Mutant(f"{path.stem}/{name}", program, finders.split(", "), where)
            found.append(mutant)
        else:
            raise Wrong(f"{where}: neither a fault nor a text: {line}")
    end_place()
    return found


def read_tables():
    mutants = [m for path in sorted(TABLES.glob("*.txt")) for m in read_table(path)]
    numbers = {}
    for m in mutants:
        if not m.places:
            raise Wrong(f"{m.line}: {m.name} has no text")
        if m.number in numbers:
            raise Wrong(f"{m.line}: {m.name} and {numbers[m.number]} have one number: rename one")
        numbers[m.number] = m.name
    return mutants


def shape_of(text):
    if re.match(r"(if|while) \(", text) and text.endswith(")"):
        return "head"
    return "statement" if ";" in text else "expression"


def switched(original, variants):
    """Returns the original text with a switch to each of its variants: (condition, text)."""
    raw = [new.replace("MUTANT", on) for on, new in variants if "MUTANT" in new]
    if raw:
        if len(variants) > 1:
            raise Wrong(f"two faults are planted in one text, and one says MUTANT: {original}")
        return raw[0]
    if "//" in original:
        raise Wrong(f"the original text has a comment, which hides the text after it: {original}")
    shape = shape_of(original)
    if shape == "statement":
        choice = "".join(f"if ({on}) {{ {new} }} else " for on, new in variants)
        return f"{{ {choice}{{ {original} }} }}"
    word = ""
    if shape == "head":
        word = original[:original.index("(")]
        # A pointer or an optional can be a condition too.
        original = f"bool({original.removeprefix(word)})"
        variants = [(on, f"bool({new.removeprefix(word)})") for on, new in variants]
    choice = "".join(f"{on} ? ({new}) : " for on, new in variants)
    return f"{word}({choice}({original}))"


def span_of(text, mutant, file, original):
    words = [re.escape(word) for word in original.split()]
    found = list(re.finditer(r"\s+".join(words), text))
    if len(found) != 1:
        raise Wrong(f"{mutant.line}: the original text of {mutant.name} must occur exactly once in "
                    f"{file}, and occurs {len(found)} times:\n    {original}")
    return found[0].span()


def mutated_sources(mutants):
    """Returns the mutated text of each file that has faults."""
    spans = {}  # file -> span -> variants
    for m in mutants:
        for file, original, mutated in m.places:
            source = ROOT / file
            if not source.is_file():
                raise Wrong(f"{m.line}: there is no file {file}")
            span = span_of(source.read_text(), m, file, original)
            spans.setdefault(file, {}).setdefault(span, []).append((m, mutated))
    copies = {}
    for file, places in spans.items():
        text = (ROOT / file).read_text()
        before = len(text)
        for (begin, end), variants in sorted(places.items(), reverse=True):
            if end > before:
                names = ", ".join(m.name for m, _ in variants)
                raise Wrong(f"{file}: the texts of {names} and of another fault overlap")
            choices = [(m.condition, new) for m, new in variants]
            text = text[:begin] + switched(text[begin:end], choices) + text[end:]
            before = begin
        copies[file] = f'extern unsigned holdfast_mutant;\n#line 1 "{file}"\n{text}'
    return copies


SWITCH = """\
// Which fault is switched on: the number in HOLDFAST_MUTANT, or none.
#include <cstdlib>

extern unsigned holdfast_mutant;
unsigned holdfast_mutant = [] {
    const char* const chosen = std::getenv("HOLDFAST_MUTANT");
    return chosen ? static_cast<unsigned>(std::strtoul(chosen, nullptr, 10)) : 0U;
}();
"""


def write_if_changed(path, text):
    if path.is_file() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def copy(folder):
    copies = mutated_sources(read_tables())
    copies["switch.cpp"] = SWITCH
    for old in [path for path in folder.rglob("*.?pp") if path.is_file()]:
        if str(old.relative_to(folder)) not in copies:
            old.unlink()
    for file, text in copies.items():
        write_if_changed(folder / file, text)


def check():
    mutants = read_tables()
    mutated_sources(mutants)
    named = set()
    for source in (ROOT / "tests").rglob("*.cpp"):
        named.update(re.findall(r"\bTEST\w*\(\s*(\w+),\s*(\w+)\s*\)", source.read_text()))
    for m in mutants:
        for finder in m.finders:
            if m.program == "sim":
                known = finder in WORLDS
            else:
                suite, _, case = finder.partition(".")
                known = (suite.split("/")[-1], case.split("/")[0]) in named
            if not known:
                raise Wrong(f"{m.line}: there is no test or world {finder} to find {m.name}")
    return mutants


def path_of(program, folder):
    """Returns the path of a test program that is linked with the mutated library."""
    if program == "cli_test":  # it runs the mutated program
        return folder.parent / program
    return folder / f"{program.removesuffix('_test')}_mutants"


def command_for(program, folder, finder, number):
    """Returns the command that looks for a fault. `finder` may name several tests, with colons."""
    if program == "sim":
        seeds = SEEDS.get(finder, SEEDS_OF_SEVERAL) if number else SEEDS_WITHOUT_FAULT
        world = [] if finder == "single" else [f"--{finder}"]
        return [str(path_of(program, folder)), *world, "--seeds", str(seeds), "--first"]
    return [str(path_of(program, folder)), f"--gtest_filter={finder}"]


def ran_all(finder, printed):
    """Returns whether each of the named tests ran, and none was skipped."""
    ran = re.search(r"Running (\d+) tests? from", printed)
    count = int(ran[1]) if ran else 0
    wanted = finder.count(":") + 1
    return "[  SKIPPED ]" not in printed and (count > wanted if "*" in finder else count == wanted)


def run_one(program, folder, finder, number, aloud=False):
    """Returns the result of a test: passed, failed, crashed, no end, or not run."""
    environment = dict(os.environ, HOLDFAST_MUTANT=str(number),
                       HOLDFAST_PROGRAM=str(folder / "holdfast"))
    environment.pop("GTEST_OUTPUT", None)  # an expected failure must not be reported
    limit = SECONDS_OF_HUNT_MAX if program == "sim" or not number else SECONDS_MAX
    child = subprocess.Popen(command_for(program, folder, finder, number), env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace",
                             start_new_session=True)
    try:
        printed, _ = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # its servers end with it
        child.communicate()
        return "no end"
    if aloud:
        print(printed)
    if program != "sim" and not ran_all(finder, printed):
        return "not run"
    if child.returncode < 0 or child.returncode > 2:
        return "crashed"
    return {0: "passed", 1: "failed"}.get(child.returncode, "not run")


def jobs_of(mutants):
    """Yields each run: name, program, finder, number. The runs without a fault come first."""
    for program in sorted({m.program for m in mutants}):
        own = {finder for m in mutants if m.program == program for finder in m.finders}
        finders = sorted(own) if program == "sim" else [":".join(sorted(own))]
        for finder in finders:
            yield f"(nothing) {program}", program, finder, 0
    for m in mutants:
        for finder in m.finders:
            yield m.name, m.program, finder, m.number


def report(rows):
    """Writes the result of each row to the folder in which ./dev test counts results."""
    results = os.environ.get("HOLDFAST_RESULTS")
    if not results:
        return
    suite = xml.Element("testsuite", name="mutants")
    for name, finder, outcome, good in rows:
        case = xml.SubElement(suite, "testcase", classname="mutants", name=f"{name} by {finder}",
                              status="run", result="completed")
        if not good:
            xml.SubElement(case, "failure", message=f"{finder}: {outcome}")
    xml.ElementTree(suite).write(Path(results) / "mutants.xml")


def run(folder, only, aloud):
    mutants = [m for m in check() if not only or m.name.split("/")[1] == only or m.name == only]
    if not mutants:
        raise Wrong(f"no fault is called {only}")
    built = {m.program for m in mutants if path_of(m.program, folder).exists()}
    left_out = sorted({m.program for m in mutants} - built)
    if left_out:  # holdfast::mysql may not be built
        print("left out, since they are not built:", *left_out)
    mine = list(jobs_of([m for m in mutants if m.program in built]))
    rows = []
    with ThreadPoolExecutor(1 if aloud else len(os.sched_getaffinity(0))) as pool:
        outcomes = pool.map(lambda job: run_one(job[1], folder, job[2], job[3], aloud), mine)
        for (name, program, finder, number), outcome in zip(mine, outcomes):
            good = outcome == "passed" if not number else outcome in ("failed", "crashed", "no end")
            rows.append((name, finder if number else program, outcome, good))
            tests = f"{finder.count(':') + 1} tests" if ":" in finder else finder
            print(f"{name:44}{outcome:9}{'' if good else 'WRONG '}{program} {tests}", flush=True)
    report(rows)
    wrong = sum(not good for *_, good in rows)
    if wrong:
        print(f"{wrong} rows are wrong: a test must pass without a fault, and fail with its own")
    return 1 if wrong or not rows else 0


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    options.add_argument("--check", action="store_true")
    options.add_argument("--files", action="store_true")
    options.add_argument("--programs", action="store_true")
    options.add_argument("--with", action="store_true", dest="others")
    options.add_argument("--copy", type=Path)
    options.add_argument("--run", type=Path)
    options.add_argument("--only")
    options.add_argument("--aloud", action="store_true")
    wanted = options.parse_args()
    try:
        if wanted.copy:
            copy(wanted.copy)
        elif wanted.run:
            return run(wanted.run, wanted.only, wanted.aloud)
        elif wanted.programs:
            names = {m.program.removesuffix("_test") for m in read_tables()}
            print("\n".join(sorted(names - {"sim", "cli"})))
        elif wanted.others:
            print("\n".join(name for path in sorted(TABLES.glob("*.txt"))
                            for name in (f"{ROOT}/{each}" for each in sources_with(path))))
        elif wanted.files:
            print("\n".join(sorted({file for m in read_tables() for file, _, _ in m.places})))
        else:
            print(f"{len(check())} faults")
    except Wrong as why:
        print(f"tests/mutants: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
