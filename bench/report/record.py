# SPDX-License-Identifier: Apache-2.0
"""Results of a run of the benchmark: the lines that `holdfast_bench --record` wrote."""
import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Figure:
    name: str
    unit: str
    better: str
    value: float
    value_spread: list[float]
    yardstick: float | None
    yardstick_spread: list[float] | None
    ratio: float | None
    ratio_spread: list[float] | None
    goal: float | None
    value_goal: float | None
    holds: bool | None


@dataclass
class Record:
    conditions: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    distributions: dict[str, dict[str, list[list[float]]]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def figures_of(self, contest: str) -> list[Figure]:
        """Returns the figures of a contest, for example blocking.1 and blocking.1.p50."""
        return [figure for name, figure in self.figures.items()
                if name == contest or name.startswith(contest + ".")]

    def get(self, name: str) -> Figure | None:
        return self.figures.get(name)


def read(path: Path) -> Record:
    record = Record()
    for line in path.read_text().splitlines():
        said = json.loads(line)
        if "conditions" in said:
            record.conditions.update(said["conditions"])
        elif "distribution" in said:
            record.distributions[said.pop("distribution")] = said
        elif "skipped" in said:
            record.skipped[said["name"]] = said["skipped"]
        else:
            record.figures[said["name"]] = Figure(**said)
    return record
