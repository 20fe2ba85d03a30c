#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compatibility.py <results folder>: prints docs/compatibility.md from the interop tests' reports.

Each test reports in its properties which program it met and, if it measured something, the result.
"""
import sys
import xml.etree.ElementTree as xml
from collections import Counter, defaultdict
from pathlib import Path
from typing import Iterator

HEAD = """\
# Compatibility

Made by `./dev interop` of {date}, and by nobody's hand: what the tests in
[tests/interop](../tests/interop/README.md) found, each on servers of its own, with Redisson in a
JVM. Where one column names two kinds of server, the locks were on some of each; a cluster or a
Sentinel set is of one kind. [At ZooKeeper](#at-zookeeper) it was Curator and kazoo. The times are
of one machine, and of value next to each other only.
"""

NEIGHBOURS = """
## Other programs

Locks of redis-py, redsync and node-redlock, which are `SET key token NX PX`: one server and our
`token_mutex`, five servers and our `quorum_mutex` of that kind.
"""

AT_KEEPER = """
## At ZooKeeper

Curator's `InterProcessMutex`, `InterProcessReadWriteLock` and `InterProcessSemaphoreV2`, kazoo's
`Lock`, `ReadLock` and `WriteLock`, and ours at the same paths. They exclude each other, wake each
other without polling, and are served in the order in which they came; the lock of a killed process
is the next one's when its session has ended.
"""

NOT_AT_KEEPER = """
For operators, who does **not** wait for whom, as the same tests show (`Strangers`):

| | does not wait for |
| --- | --- |
| Curator | kazoo, and ours with `form=kazoo` |
| kazoo as it comes | Curator, and ours without `form=kazoo` |
| kazoo's `Lock` | kazoo's own `ReadLock`: where there are readers, take a `WriteLock` |
| kazoo's `Semaphore` | Curator's and ours: its nodes are others |
| ours, with either `form` | nobody: it waits for Curator's names and for kazoo's |

So **Curator and kazoo both hold the same lock**, and ours beside them cannot mend that. Where
programs of kazoo are to meet ours, one of these:

- `form=kazoo` in our URLs: then no Curator there;
- kazoo's `extra_lock_patterns`, in each of its programs: then no Curator there either. They are
  `["-lock-"]` for a `Lock`, `["-__WRIT__"]` for a `ReadLock`, `["-__WRIT__", "-__READ__"]` for a
  `WriteLock`;
- classes derived from kazoo's, whose `_NODE_NAME` and `_EXCLUDE_NAMES` are these marks: then
  Curator too. [kazoo_peer.py](../tests/interop/others/python/kazoo_peer.py) has all three.

A Curator client goes on believing in its hold when somebody deletes its node, as `holdfast unlock
--force` does (`CuratorsBelief`), and each of its semaphores has the number of permits that its own
program gave it: give all the same, or Curator's `SharedCount` at the semaphore's path, which is
where ours keeps the number.
"""

KEEPER_STRESS = """
Under stress: two processes of each with four threads and two of ours with twelve, on two names, all
ways of taking mutexes, read-write locks and semaphores mixed, processes killed at times. Failed
would be: two at once sure of a lock that one alone may have, a fencing token of ours that does not
grow, more permits out than there are, a lock lost, or anything left at the server.
"""

STRESS = """
## Under stress

A JVM of each version with four threads and three of our processes with sixteen, on two names of
each kind of lock and counter that they have, all ways of taking them mixed, processes killed at
times. Failed would be: two at once sure of a lock that one alone may have, a token that does not
grow, a renewed lock lost, more permits out than there are, a permit missing in the end that no
killed process can have had, more drawn in an interval than the rate, a latch that opens early, a
waiter forgotten at an open one, or anything left on the server.
"""

FAILOVER = """
## Under stress through a failover

A JVM of each version with three threads and two of our processes with ten, at plain, fair and
read-write locks on three names of a cluster, one of whose primaries is killed and comes back as a
replica. A replica confirms each grant, and behind the failover each of ours. Failed would be: two
at once sure of a lock that one alone may have, a renewed lock of ours lost, a lock that one of our
processes does not get afterwards, a JVM that gets none, or anything left. Redisson 3.13.6 does not
take part: it does not wait until a replica has confirmed, and a release that falls into the
failover does not come back ([more](redisson.md#replicas-sentinel-cluster)).
"""

WAKE_UPS = """
## Wake-ups

The time from a release's message to the waiter's first question after it, as the server saw them,
next to a round trip as the waiter's thread saw it; medians, in microseconds.
"""

POLITENESS = """
## Politeness

How many times four threads of a JVM get a lock in three seconds that eight others never leave
alone, and how long they wait for it, in microseconds. Who wants to write gives up after as long.
"""


class Case:
    def __init__(self, element: xml.Element) -> None:
        self.said = {each.get("name"): each.get("value") for each in element.iter("property")}
        self.skipped = element.get("result") == "skipped" or element.get("status") == "notrun"
        self.verdict = "failed" if element.find("failure") is not None else "passed"
        self.said["verdict"] = self.verdict


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    for row in [head, ["---"] * len(head), *rows]:
        yield "| " + " | ".join(row) + " |"


def words(count: Counter) -> str:
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in ("passed", "failed")
                     if count[verdict]) or "not tested"


def counts(cases: list[Case]) -> Iterator[str]:
    by_primitive = defaultdict(lambda: defaultdict(Counter))
    for case in cases:
        if "redisson" in case.said:
            by_primitive[case.said["primitive"]][case.said["redisson"]].update(
                [(case.said["server"], case.verdict)])
    for primitive, versions in sorted(by_primitive.items()):
        yield f"\n## {primitive}\n"
        by_number = sorted(versions, key=lambda version: [int(n) for n in version.split(".")])
        yield from by_server("Redisson", {version: versions[version] for version in by_number})


def by_server(head: str, counted: dict[str, Counter]) -> Iterator[str]:
    servers = sorted({server for count in counted.values() for server, _ in count})
    rows = []
    for whom, count in counted.items():
        each = [Counter({verdict: times for (where, verdict), times in count.items()
                         if where == server}) for server in servers]
        rows.append([whom, *map(words, each)])
    yield from table([head, *servers], rows)


def neighbours(cases: list[Case]) -> Iterator[str]:
    counted = defaultdict(lambda: defaultdict(Counter))
    for case in cases:
        if "neighbour" in case.said and "keeper" not in case.said:
            whom = f"{case.said['neighbour']} {case.said.get('version', '')}"
            counted[case.said["primitive"]][whom].update([(case.said["server"], case.verdict)])
    if counted:
        yield NEIGHBOURS[:-1]
    for ours, programs in sorted(counted.items(), reverse=True):
        yield ""
        yield from by_server(f"Beside `{ours}`", dict(sorted(programs.items())))


def at_keeper(cases: list[Case]) -> Iterator[str]:
    counted = defaultdict(lambda: defaultdict(Counter))
    for case in cases:
        if "neighbour" in case.said and "keeper" in case.said:
            # "kazoo, named as Curator does": the version goes after the program's name.
            program, *how = case.said["neighbour"].split(", ")
            whom = ", ".join([f"{program} {case.said.get('version', '')}".strip(), *how])
            counted[case.said["primitive"]][whom].update([(case.said["keeper"], case.verdict)])
    if not counted:
        return
    yield AT_KEEPER[:-1]
    for primitive, programs in sorted(counted.items()):
        yield ""
        yield from by_server(f"At a {primitive}", dict(sorted(programs.items())))
    yield NOT_AT_KEEPER[:-1]
    yield from measured(cases, "keeper-stress", KEEPER_STRESS, {
        "keeper": "Server", "gathering": "Beside ours", "seconds": "Seconds", "grants": "Grants",
        "given_up": "Waits given up", "kills": "Kills", "verdict": "Verdict"})


def measured(cases: list[Case], what: str, head: str, columns: dict[str, str]) -> Iterator[str]:
    found = [case.said for case in cases if case.said.get("measures") == what]
    if found:
        yield head
        yield from table(list(columns.values()),
                         [[said.get(key, "") for key in columns] for said in found])


def document(reports: list[xml.Element]) -> Iterator[str]:
    cases = [case for report in reports for case in map(Case, report.iter("testcase"))
             if not case.skipped]
    yield HEAD.format(date=reports[0].get("timestamp", "").split("T")[0])[:-1]
    yield from counts(cases)
    yield from neighbours(cases)
    yield from at_keeper(cases)
    yield from measured(cases, "stress", STRESS, {
        "server": "Server", "redissons": "Redisson", "seconds": "Seconds", "grants": "Grants",
        "given_up": "Waits given up", "ran_out": "Leases that ran out", "kills": "Kills",
        "verdict": "Verdict"})
    yield from measured(cases, "failover", FAILOVER, {
        "server": "Server", "redissons": "Redisson", "grants": "Grants",
        "given_up": "Waits given up", "longest_ms": "Longest wait, ms", "verdict": "Verdict"})
    yield from measured(cases, "wake-ups", WAKE_UPS, {
        "redisson": "Redisson", "server": "Server", "waiter": "Waiter",
        "wake_up_us": "Wake-up", "round_trip_us": "Round trip"})
    yield from measured(cases, "politeness", POLITENESS, {
        "contest": "Lock", "server": "Server", "ours_served": "Beside ours: times",
        "ours_p50_us": "half", "ours_p90_us": "90 %", "ours_p99_us": "99 %",
        "ours_p100_us": "longest", "jvm_served": "Beside a JVM's: times", "jvm_p50_us": "half",
        "jvm_p90_us": "90 %", "jvm_p99_us": "99 %", "jvm_p100_us": "longest"})


def main() -> int:
    reports = sorted(Path(sys.argv[1]).glob("**/interop_test_*.xml"))
    print("\n".join(document([xml.parse(each).getroot() for each in reports])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
