#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/performance.md from results: performance.py RECORD TEMPLATE PAGE.

The template has the text of the page. A line {{conditions}}, {{goals}}, {{figures CONTEST...}} or
{{budgets}} is replaced by a table. A line {{plot NAME: what it shows}} is replaced by a plot, which
is written to a folder next to the page. Inside a sentence, {{ratio FIGURE}} is replaced by a
measured ratio, and {{missed}} by the goals that were not met. So the sentence is true for each run.
"""
import re
import sys
from pathlib import Path
from typing import Iterator

import plots
from record import Figure, Record, read

PLACE = re.compile(r"\{\{(\w+)(?: ([^:}]+))?(?:: ([^}]+))?\}\}")

HEAD = """| | unit | ours | yardstick | ratio | goal | met |
|---|---|--:|--:|--:|--:|---|"""

CONDITIONS = {"date": "Measured", "command": "Command", "revision": "Revision",
              "holdfast": "holdfast", "redisson": "Peer", "server": "Server",
              "stores": "Other servers",
              "machine": "Machine", "turns": "Turns", "others": "Used by other programs meanwhile"}


def amount(number: float) -> str:
    """Formats a number with three digits; further digits are noise."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def with_spread(value: float | None, spread: list[float] | None) -> str:
    if value is None:
        return "–"
    if spread is None or spread[0] == spread[1]:
        return amount(value)
    return f"{amount(value)} <sub>{amount(spread[0])}…{amount(spread[1])}</sub>"


def goal(figure: Figure) -> str:
    sign = "≥" if figure.better == "higher" else "≤"
    ratio = [f"{sign} {figure.goal:g}"] if figure.goal else []
    value = [f"{sign} {figure.value_goal:,g} {figure.unit}"] if figure.value_goal else []
    return " and ".join(ratio + value)


def row(figure: Figure) -> str:
    met = {True: "yes", False: "**no**", None: ""}[figure.holds]
    cells = [f"`{figure.name}`", figure.unit.replace("us", "µs"),
             with_spread(figure.value, figure.value_spread),
             with_spread(figure.yardstick, figure.yardstick_spread),
             with_spread(figure.ratio, figure.ratio_spread), goal(figure), met]
    return "| " + " | ".join(cells) + " |"


def table(figures: list[Figure], skipped: dict[str, str]) -> Iterator[str]:
    yield HEAD
    yield from map(row, figures)
    for contest, reason in skipped.items():
        yield f"| `{contest}` | | | | | | skipped: {reason} |"


def waited(figure: Figure | None) -> str:
    return amount(figure.value / 1000) if figure else "–"


def budgets(record: Record) -> Iterator[str]:
    """Yields a table row for each number of threads and rival. Each budget has a column."""
    rates = {tuple(name.split(".")[1:]): figure for name, figure in record.figures.items()
             if name.startswith("budget.") and ".rival." not in name}
    columns = list(dict.fromkeys(budget for *_, budget in rates))
    yield f"| threads, rival | {' | '.join(columns)} |"
    yield f"|---|{'--:|' * len(columns)}"
    for threads, rival in dict.fromkeys((threads, rival) for threads, rival, _ in rates):
        cells = []
        for budget in columns:
            name = f"budget.{threads}.{rival}.{budget}"
            p99, longest = (record.get(f"{name}.rival.{wait}") for wait in ("p99", "max"))
            cells.append(f"{amount(rates[threads, rival, budget].value)}/s<br>"
                         f"{waited(p99)}, {waited(longest)} ms")
        yield f"| {threads}, {rival} | {' | '.join(cells)} |"


def conditions(record: Record) -> Iterator[str]:
    yield "| | |\n|---|---|"
    for name, title in CONDITIONS.items():
        value = record.conditions.get(name)
        if value:
            yield f"| {title} | {f'`{value}`' if name == 'command' else value} |"


def missed(record: Record) -> str:
    with_goal = [figure for figure in record.figures.values() if figure.holds is not None]
    names = [f"`{figure.name}`" for figure in with_goal if not figure.holds]
    return f"{len(names)} of {len(with_goal)} goals ({', '.join(names) or 'none'})"


def filled(place: re.Match, record: Record, page: Path) -> str:
    what, names, alt = place.groups()
    if what == "conditions":
        return "\n".join(conditions(record))
    if what == "ratio":
        figure = record.get(names)
        return amount(figure.ratio) if figure and figure.ratio else "(not measured)"
    if what == "missed":
        return missed(record)
    if what == "goals":
        with_goal = [f for f in record.figures.values() if f.holds is not None]
        return "\n".join(table(with_goal, record.skipped))
    if what == "figures":
        wanted = [f for name in names.split() for f in record.figures_of(name)]
        return "\n".join(table(wanted, {})) if wanted else "*Not measured in this run.*"
    if what == "budgets":
        rows = list(budgets(record))
        return "\n".join(rows) if len(rows) > 2 else "*Not measured in this run.*"
    if what == "plot":
        folder = page.with_suffix("")
        if not plots.draw(names, record, folder):
            return "*Not measured in this run.*"
        return f"![{alt}]({folder.name}/{names}.svg)"
    raise ValueError(f"{place[0]} is nothing that can be filled in")


def main() -> None:
    recorded, template, page = map(Path, sys.argv[1:])
    record = read(recorded)
    page.write_text(PLACE.sub(lambda place: filled(place, record, page), template.read_text()))


if __name__ == "__main__":
    main()
