#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of ./dev test: its options, the count at its end, its progress, its slowest tests."""
import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/dev"))

import progress  # noqa: E402
import slowest  # noqa: E402
import tally  # noqa: E402


def dev(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "dev", *words], text=True, capture_output=True, timeout=60)


class OptionsTest(unittest.TestCase):
    def refused(self, mentioned: str, *words: str):
        ended = dev("test", *words)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), words)
        self.assertIn(mentioned, ended.stderr)

    def test_help_names_each_option_and_runs_nothing(self):
        ended = dev("test", "--help")
        self.assertEqual(ended.returncode, 0)
        for option in ("--all", "--rest", "--repeat N", "--load", "--slowest", "LAYER"):
            self.assertIn(option, ended.stdout)
        self.assertNotIn("Building", ended.stdout)

    def test_wrong_options_are_refused_with_what_is_allowed(self):
        self.refused("no option '--al'", "--al")
        self.refused("the layers are: tidy docs unit", "units")
        self.refused("a number from 1 to 99999", "--repeat")
        self.refused("a number from 1 to 99999", "--repeat", "0")
        self.refused("a number from 1 to 99999", "--repeat", "twice")

    def test_options_that_exclude_each_other_are_refused(self):
        self.refused("--all and unit exclude each other", "unit", "--all")
        self.refused("--all and unit exclude each other", "--all", "unit")
        self.refused("--rest and --all exclude each other", "--all", "--rest")
        self.refused("--slowest runs no test", "--slowest", "--load")
        self.refused("--slowest runs no test", "--slowest", "--repeat", "2")


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name)

    def layer(self, name: str, tests: str, **programs: str):
        folder = self.results / name
        folder.mkdir(parents=True)
        (folder / "ctest.junit").write_text(f"<testsuite>{tests}</testsuite>")
        for program, cases in programs.items():
            (folder / f"{program}.xml").write_text(f"<testsuites>{cases}</testsuites>")

    def run_main(self, module) -> tuple[int, str]:
        out = io.StringIO()
        with mock.patch.object(sys, "argv", ["it", str(self.results)]), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return module.main(), out.getvalue()

    def test_the_last_line_counts_cases_of_programs_and_other_tests(self):
        self.layer("core/unit",
                   '<testcase name="a" status="run"/><testcase name="b" status="run"/>',
                   a='<testcase classname="S" name="one" time="0.5"/>'
                     '<testcase classname="S" name="two" result="skipped">'
                     '<skipped message="f:1&#10;no server"/></testcase>')
        status, printed = self.run_main(tally)
        self.assertEqual(status, 0)
        self.assertEqual(printed.splitlines(),
                         ["skipped 1: no server", "2 passed, 0 failed, 1 skipped"])

    def test_a_test_that_fails_in_two_rounds_is_listed_once_with_a_count(self):
        for name in ("core/unit", "core-2/unit"):
            self.layer(name, '<testcase name="a" status="fail"/>',
                       a='<testcase classname="S" name="one"><failure message="bad"/></testcase>'
                         '<testcase classname="S" name="two"/>')
        status, printed = self.run_main(tally)
        self.assertEqual(status, 1)
        self.assertIn("FAILED S.one 2 times, first in ", printed)
        self.assertEqual(printed.splitlines()[-1], "2 passed, 2 failed, 0 skipped")

    def test_no_result_at_all_is_a_failure(self):
        self.assertEqual(self.run_main(tally), (1, "0 passed, 0 failed, 0 skipped\n"))

    def test_a_failed_stage_is_a_failure(self):
        self.layer("core/unit", '<testcase name="a" status="run"/>')
        (self.results / "failed_stages").write_text("Building (ci)\n")
        status, printed = self.run_main(tally)
        self.assertEqual((status, printed.splitlines()[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_the_slowest_tests_come_first(self):
        self.layer("core/unit", '<testcase name="a" time="9"/><testcase name="b" time="2.5"/>',
                   a='<testcase classname="S" name="one" time="3"/>'
                     '<testcase classname="S" name="two" time="0.25"/>')
        status, printed = self.run_main(slowest)
        self.assertEqual(status, 0)
        self.assertEqual([line.split()[-1] for line in printed.splitlines()[:3]],
                         ["S.one", "b", "S.two"])

    def test_the_slowest_of_nothing_is_an_error(self):
        status, printed = self.run_main(slowest)
        self.assertEqual(status, 1)
        self.assertIn("run ./dev test first", printed)


class ProgressTest(unittest.TestCase):
    def test_steps_tell_what_is_left_of_a_stage(self):
        self.assertEqual(progress.left_of_stage(10, 500, 25, 100), 30)
        self.assertEqual(progress.left_of_stage(2, 500, 1, 100), 498)
        self.assertEqual(progress.left_of_stage(30, 20, 0, 0), 0)

    def test_the_line_has_stage_steps_and_what_is_left_of_all_stages(self):
        line = progress.line_of(2, ["Testing unit (ci)", "Testing sim (ci)"], 5, 10, 20,
                                {"Testing sim (ci)": 40})
        self.assertEqual(line, "[2/3] Testing unit (ci), 5 of 10, 20 s; about 1 min left")

    def test_rounds_of_a_layer_take_what_the_layer_takes(self):
        self.assertEqual(progress.expected("Testing x (ci) (3 of 20)", {"Testing x (ci)": 7}), 7)

    def test_times_are_written_for_people(self):
        self.assertEqual([progress.words_of(each) for each in (1, 42, 60, 131, 3600)],
                         ["5 s", "40 s", "1 min", "2 min 10 s", "60 min"])

    def test_ninja_and_ctest_tell_their_steps(self):
        for line in (b"[12/190 3.2s] Building a", b" 12/190 Test #3: a ... Passed"):
            step = progress.COUNTED.match(line)
            self.assertEqual((int(step[1]), int(step[2])), (12, 190))
        self.assertIsNone(progress.COUNTED.match(b"ratio 12/190 of"))


if __name__ == "__main__":
    unittest.main()
