#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tally.py <results folder>: counts the tests that ran, and lists what was skipped and what failed.

A test that failed in several rounds (./dev test --repeat) is listed once, with a count.

Stages that failed, a build or a linter among them, are in the file failed_stages, a line each.

Each layer's folder holds CTest's report and, for its GoogleTest programs, one that names each case.
A program that died early left none, and one may fail after its last case (a leak found at exit):
then CTest's own verdict counts.
"""
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path


WORDS_MAX = 600  # of a failure; the log above has all of it


def cases_of(program: Path, skipped: Counter, failed: list) -> Counter:
    count = Counter()
    for case in xml.parse(program).iter("testcase"):
        failure = case.find("failure")
        if failure is not None:
            count["failed"] += 1
            name = f"{case.get('classname')}.{case.get('name')}"
            failed.append((name, str(program.parent), failure.get("message", "")))
        elif case.get("status") == "notrun" or case.get("result") == "skipped":
            count["skipped"] += 1
            skip = case.find("skipped")
            # GoogleTest puts "file:line" before the reason.
            message = skip.get("message", "") if skip is not None else "disabled"
            skipped[message.split("\n", 1)[-1].strip() or "no reason given"] += 1
        else:
            count["passed"] += 1
    return count


def layer_count(ctest_report: Path, skipped: Counter, failed: list) -> Counter:
    count = Counter()
    for test in xml.parse(ctest_report).iter("testcase"):
        status = test.get("status")
        cases = Counter()
        program = ctest_report.parent / (test.get("name") + ".xml")
        if program.exists():
            cases = cases_of(program, skipped, failed)
            if status == "fail" and not cases["failed"]:
                cases["failed"] = 1
                failed.append((test.get("name"), str(program.parent),
                               "it failed after its last case"))
        elif status == "run":
            cases["passed"] = 1
        elif status == "fail":
            cases["failed"] = 1
            printed = test.findtext("system-out", "").strip()
            failed.append((test.get("name"), str(ctest_report.parent), printed[-WORDS_MAX:]))
        else:
            cases["skipped"] = 1
            skipped[test.get("name")] += 1
        count += cases
    return count


def main() -> int:
    results = Path(sys.argv[1])
    named = results / "failed_stages"
    failed_stages = named.read_text().splitlines() if named.exists() else []
    total, skipped, failed = Counter(), Counter(), []
    for report in sorted(results.glob("*/*/ctest.junit")):
        total += layer_count(report, skipped, failed)
    for reason, times in skipped.most_common():
        print(f"skipped {times}: {reason}")
    times = Counter(name for name, _, _ in failed)
    for name, (folder, words) in {name: rest for name, *rest in reversed(failed)}.items():
        counted = f" {times[name]} times, first" if times[name] > 1 else ""
        print(f"FAILED {name}{counted} in {folder}: {words[:WORDS_MAX].strip()}")
    for title in failed_stages:
        print(f"FAILED the stage \"{title}\"")
    # A stage that failed without a failed test (a build, a linter) must not read as "0 failed".
    failures = total["failed"] or len(failed_stages)
    print(f"{total['passed']} passed, {failures} failed, {total['skipped']} skipped")
    return 1 if failures or failed_stages or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
