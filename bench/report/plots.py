# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of docs/performance.md as SVG files. Equal figures give equal files.

The plots are transparent. Every colour has enough contrast on white and on black, because a page
may have either background. Lines also differ in dash and marker, for readers and printers without
colour.
"""
import math
from pathlib import Path
from typing import Callable

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from record import Record

INK = "#777b80"
STYLES = {
    "ours": {"color": "#3b82f6", "marker": "o", "linestyle": "-"},
    "ours, second": {"color": "#8b5cf6", "marker": "v", "linestyle": (0, (4, 1))},
    "ours, third": {"color": "#0d9488", "marker": "D", "linestyle": (0, (1, 1))},
    "sockets": {"color": INK, "marker": "s", "linestyle": (0, (5, 2))},
    "redisson": {"color": "#d9730d", "marker": "^", "linestyle": (0, (6, 2, 1, 2))},
}
AT_ONCE = [1, 2, 4, 8, 16, 32, 64]

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "holdfast",
    "font.size": 11, "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK,
    "xtick.color": INK, "ytick.color": INK, "grid.color": INK, "grid.alpha": 0.25,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "axes.titlelocation": "left", "axes.titlesize": 11, "legend.frameon": False,
    "lines.linewidth": 2, "lines.markersize": 5,
})


def short(number: float) -> str:
    if number >= 1e6:
        return f"{number / 1e6:g} M"
    return f"{number / 1e3:g} k" if number >= 1e3 else f"{number:g}"


def length(us: float) -> str:
    if us >= 1e6:
        return f"{us / 1e6:g} s"
    return f"{us / 1e3:g} ms" if us >= 1e3 else f"{us:g} µs"


def logarithmic(axes: Axes, show: Callable[[float], str]) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: show(y)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def headed(axes: Axes, title: str, curves: int = 0) -> None:
    """Sets the title, which describes the vertical axis. Adds a legend of the curves below it."""
    rows = math.ceil(len(axes.get_lines()) / curves) if curves else 0
    axes.set_title(title, pad=12 + 16 * rows if rows else None)
    if rows:
        axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 0.99), ncol=curves, borderpad=0.2,
                    columnspacing=1.5)


def over(axes: Axes, record: Record, contest: str, suffix: str, side: str, label: str,
         style: str) -> bool:
    """Draws a curve over the number of threads. A band shows the middle half of the rounds."""
    found = [(n, figure) for n in AT_ONCE if (figure := record.get(f"{contest}.{n}{suffix}"))]
    if not found:
        return False
    where = [n for n, _ in found]
    axes.plot(where, [getattr(figure, side) for _, figure in found], label=label, **STYLES[style])
    spreads = [getattr(figure, f"{side}_spread") for _, figure in found]
    axes.fill_between(where, [low for low, _ in spreads], [high for _, high in spreads],
                      color=STYLES[style]["color"], alpha=0.2, linewidth=0)
    return True


def at_once_below(axes: Axes, title: str) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(AT_ONCE))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    axes.set_xlabel(title)


def threads(record: Record, figure) -> bool:
    axes = figure.subplots()
    drawn = over(axes, record, "blocking", "", "value", "holdfast", "ours")
    over(axes, record, "blocking", "", "yardstick", "bare sockets", "sockets")
    over(axes, record, "redisson", "", "yardstick", "Redisson", "redisson")
    at_once_below(axes, "threads, each with a free lock of its own")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: short(rate)))
    headed(axes, "lock + unlock pairs per second", curves=3)
    return drawn


def hand_offs(record: Record, figure) -> bool:
    rates, waits = figure.subplots(1, 2)
    drawn = True
    for axes, suffix, title, show in (
            (rates, "", "hand-offs per second", short),
            (waits, ".p99", "wait for the lock, 99th percentile", length)):
        drawn &= over(axes, record, "gate", suffix, "value", "holdfast", "ours")
        over(axes, record, "gate", suffix, "yardstick", "Redisson", "redisson")
        at_once_below(axes, "threads of one process that want one lock")
        logarithmic(axes, show)
        headed(axes, title, curves=2)
    return drawn


def percentiles_below(axes: Axes) -> None:
    """Sets an axis of percentiles. Each step is ten times as rare as the previous step."""
    shares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999]
    axes.set_xscale("function", functions=(rarity, lambda x: 1 - 10 ** -x))
    axes.xaxis.set_major_locator(FixedLocator(shares))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    axes.set_xlim(0, 0.9999)
    axes.set_xlabel("share of all pairs")


def rarity(share):
    return -numpy.log10(1 - numpy.clip(share, 0, 0.99999))


def latency(record: Record, figure) -> bool:
    axes = figure.subplots()
    variants = {"blocking.1.poll-on": "holdfast", "blocking.1.poll-off": "holdfast, polling off",
                "blocking.1.deferred": "holdfast, release not waited for"}
    curves = [(contest, "ours", label) for contest, label in variants.items()]
    if "blocking.1.poll-on" not in record.distributions:
        curves.insert(0, ("blocking.1", "ours", "holdfast"))
    curves += [("blocking.1", "yardstick", "bare socket"), ("redisson.1", "yardstick", "Redisson")]
    ours = iter(["ours", "ours, second", "ours, third"])
    drawn = False
    for contest, side, label in curves:
        marks = record.distributions.get(contest, {}).get(side)
        if not marks:
            continue
        name = {"bare socket": "sockets", "Redisson": "redisson"}.get(label) or next(ours)
        style = {**STYLES[name], "marker": ""}
        axes.plot([share for share, _ in marks[:-1]], [us for _, us in marks[:-1]], label=label,
                  **style)
        drawn = True
    percentiles_below(axes)
    logarithmic(axes, length)
    headed(axes, "one lock + unlock pair took at most", curves=3)
    return drawn


PLOTS: dict[str, tuple[Callable[[Record, object], bool], tuple[float, float]]] = {
    "threads": (threads, (7.5, 4)),
    "hand-offs": (hand_offs, (10, 4)),
    "latency": (latency, (7.5, 4)),
}


def draw(name: str, record: Record, folder: Path) -> bool:
    """Draws a plot. Returns False and writes no file if its figures were not measured."""
    plot, size = PLOTS[name]
    figure = plt.figure(figsize=size, layout="constrained")
    path = folder / f"{name}.svg"
    drawn = plot(record, figure)
    if drawn:
        folder.mkdir(exist_ok=True)
        figure.savefig(path, transparent=True, metadata={"Date": None})
    else:
        path.unlink(missing_ok=True)
    plt.close(figure)
    return drawn
