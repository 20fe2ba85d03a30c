#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prometheus_files.py <checkout> names|promtool: checks the alert rules and the dashboard.

names      Does each metric in the rules, in the dashboard and in docs/howto/metrics.md exist, and
           does the page describe every metric? Is the dashboard JSON?
promtool   Does Prometheus's own program accept the rules, and do their tests pass? Skipped, with
           status 77, if promtool is not installed.
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

SOURCES = ("src/metrics/collector.cpp", "cli/metrics_module/module.cpp")
RULES = "packaging/prometheus/holdfast.rules.yml"
RULE_TESTS = "packaging/prometheus/holdfast.rules.test.yml"
DASHBOARD = "packaging/grafana/holdfast.json"
PAGE = "docs/howto/metrics.md"
METRIC = re.compile(r"\bholdfast_[a-z_]+[a-z]\b")
HISTOGRAM = re.compile(r"_(?:bucket|sum|count)$")
SKIPPED = 77


def metrics_of(root: Path) -> set[str]:
    texts = [(root / source).read_text(encoding="utf-8") for source in SOURCES]
    return {name for text in texts for name in re.findall(r'"(holdfast_[a-z_]+)"', text)}


def expressions_in(board: object) -> Iterator[str]:
    """The queries of a dashboard: of its panels and of its variables."""
    if isinstance(board, dict):
        for key, value in board.items():
            if key in ("expr", "query") and isinstance(value, str):
                yield value
            else:
                yield from expressions_in(value)
    elif isinstance(board, list):
        for each in board:
            yield from expressions_in(each)


def unknown_in(text: str, known: set[str], where: str) -> list[str]:
    names = sorted(set(METRIC.findall(text)))
    return [f"{where}: there is no metric {name}" for name in names
            if name not in known and HISTOGRAM.sub("", name) not in known]


def check_names(root: Path) -> list[str]:
    known = metrics_of(root)
    board = json.loads((root / DASHBOARD).read_text(encoding="utf-8"))
    expressions = list(expressions_in(board))
    page = (root / PAGE).read_text(encoding="utf-8")
    rules = (root / RULES).read_text(encoding="utf-8")
    findings = [*unknown_in(rules, known, RULES),
                *unknown_in("\n".join(expressions), known, DASHBOARD),
                *unknown_in(page, known, PAGE)]
    if len(known) < 19 or len(expressions) < 10 or not METRIC.search(rules):
        findings.append("this test does not find the metrics any more")
    findings += [f"{PAGE} does not describe {name}" for name in sorted(known) if name not in page]
    alerts = re.findall(r"- alert: (\w+)", rules)
    return findings + [f"{PAGE} does not describe the alert {alert}" for alert in alerts
                       if alert not in page]


def run_promtool(root: Path) -> int:
    if shutil.which("promtool") is None:
        print("skipped: promtool is not installed (Debian: prometheus)")
        return SKIPPED
    folder = (root / RULES).parent
    commands = (["promtool", "check", "rules", Path(RULES).name],
                ["promtool", "test", "rules", Path(RULE_TESTS).name])
    return 1 if any(subprocess.run(each, cwd=folder, check=False).returncode
                    for each in commands) else 0


def main() -> int:
    root = Path(sys.argv[1])
    if sys.argv[2] == "promtool":
        return run_promtool(root)
    findings = check_names(root)
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
