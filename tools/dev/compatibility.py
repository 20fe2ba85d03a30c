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

`./dev interop` has generated this page on {date} from the results of the tests in
[tests/interop](../tests/interop/README.md). Each test had its own servers, and ran holdfast
together with Redisson in a JVM. In the section [At ZooKeeper](#at-zookeeper), the tests ran with
Curator and kazoo instead of Redisson. Most tables have one column for each kind of server. If the
heading of a column names two kinds, one test used both kinds at once, each for some of its locks. A
cluster or a Sentinel set has servers of one kind. All times are from one machine, so compare them
only with other times on this page.
"""

NEIGHBOURS = """
## Other programs

The libraries redis-py, redsync and node-redlock create the key of a lock by `SET key token NX PX`.
We tested their locks together with `token_mutex` on one server, and together with a `quorum_mutex`
of token locks on five servers.
"""

AT_KEEPER = """
## At ZooKeeper

We tested holdfast on ZooKeeper together with two other libraries, Curator and kazoo. All of them
used locks on the same paths:

- From Curator, the tests used `InterProcessMutex`, `InterProcessReadWriteLock` and
  `InterProcessSemaphoreV2`.
- From kazoo, the tests used `Lock`, `ReadLock` and `WriteLock`.

Each test of holdfast and one other library checks these statements. The locks of both libraries
exclude each other. A release by one library wakes waiters of the other library, which do not poll.
Waiters get the lock in order of arrival. If a process is killed, the next waiter gets its lock when
the session of the killed process ends.
"""

NOT_AT_KEEPER = """
Some locks do **not** exclude each other on the same path, so that two clients
can hold the lock at the same time. The next table shows these pairs of libraries. It is based on
the tests named `Strangers`:

| A client of | does not wait for |
| --- | --- |
| Curator | kazoo, and holdfast with `form=kazoo` |
| kazoo with its default settings | Curator, and holdfast without `form=kazoo` |
| kazoo's `Lock` | kazoo's own `ReadLock`: if there are readers, take a `WriteLock` |
| kazoo's `Semaphore` | the semaphores of Curator and holdfast: kazoo's nodes have another form |
| holdfast, with either `form` | – (it waits for all of them: for Curator's names and for kazoo's) |

Curator does not wait for kazoo, and kazoo does not wait for Curator. So **a Curator client and a
kazoo client can both hold the same lock**, and holdfast cannot prevent that. To share locks between
programs with kazoo and programs with holdfast, choose one of these ways:

- Use `form=kazoo` in the URLs of holdfast. Then Curator must not use these paths.
- Set kazoo's `extra_lock_patterns` in each program with kazoo. Then Curator must not use these
  paths either. The patterns are `["-lock-"]` for a `Lock`, `["-__WRIT__"]` for a `ReadLock`, and
  `["-__WRIT__", "-__READ__"]` for a `WriteLock`.
- Derive classes from kazoo's classes, with these patterns as `_NODE_NAME` and `_EXCLUDE_NAMES`.
  Then Curator can use the paths too. [kazoo_peer.py](../tests/interop/others/python/kazoo_peer.py)
  has all three ways.

`holdfast unlock --force` deletes the node of the holder. If the holder uses Curator, it does not
notice this, and still believes that it holds the lock (test `CuratorsBelief`).

In Curator, each program sets the number of permits of a semaphore for itself. So use the same
number in all programs. Or let the Curator programs read the number with Curator's class
`SharedCount` from the semaphore's path, where holdfast keeps it.
"""

KEEPER_STRESS = """
In a stress test on ZooKeeper, processes with holdfast, Curator and kazoo use
the same two lock names. For Curator and for kazoo, two processes run with four threads each. Two
processes of holdfast run with twelve threads in total. The processes take mutexes, read-write locks
and semaphores in all ways, and the test sometimes kills a process.

- The test fails if two holders at once are sure of an exclusive lock.
- The test fails if a fencing token of holdfast is not greater than the token before it.
- The test fails if more permits are held than exist.
- The test fails if a lock is lost.
- The test fails if anything is left on the server when the test ends.
"""

STRESS = """
## Under stress

In a stress test on Redis, processes with holdfast and with Redisson use the same locks and
counters: two names for each type that both libraries have. For each version of Redisson, one JVM
runs with four threads. Three processes of holdfast run with sixteen threads in total. They take the
locks and counters in all ways, and the test sometimes kills a process.

- The test fails if two holders at once are sure of an exclusive lock.
- The test fails if a token is not greater than the token before it.
- The test fails if a renewed lock is lost, or if more permits are held than exist.
- The test fails if a permit is missing at the end, although no killed process can have had it.
- The test fails if more permits are taken in an interval than the rate of the limiter allows.
- The test fails if a latch opens too early, or if a waiter waits for a latch that is open.
- The test fails if anything is left on the server when the test ends.
"""

FAILOVER = """
## Under stress through a failover

Another test kills a primary of a Redis cluster while locks are in use; the primary comes back as a
replica. One JVM for each version of Redisson runs with three threads, and two processes of holdfast
run with ten threads in total. They use plain, fair and read-write locks with three names. Before
the failover, a replica must confirm each grant of both libraries. After the failover, a replica
must confirm only holdfast's grants.

- The test fails if two holders at once are sure of an exclusive lock.
- The test fails if a renewed lock of holdfast is lost.
- The test fails if a process of holdfast, or a JVM, cannot get a lock after the failover.
- The test fails if anything is left on the servers.

The failover test does not include Redisson 3.13.6, for two reasons. First, this version does not
wait until a replica has confirmed its write. Second, if a program releases a lock during the
failover, its `unlock()` does not return ([more](redisson.md#replicas-sentinel-cluster)).
"""

WAKE_UPS = """
## Wake-ups

A release sends a message that wakes a waiter. In the next table, the column "Wake-up" shows how
quickly the waiter reacts: the time from this message to the waiter's next request, measured at the
server. The column "Round trip" shows the time of one round trip to the server, measured in the
waiter's thread. All times are medians in microseconds.
"""

POLITENESS = """
## Politeness

This test measures whether four threads of a JVM still get a lock while eight other threads use the
lock all the time. In one run, the eight threads belong to holdfast (columns "Beside ours"). In
another run, they belong to a second JVM (columns "Beside a JVM's"). The next table shows how many
times the four threads get the lock in three seconds. It also shows how long they wait for the lock,
in microseconds: the columns "half", "90 %" and so on are percentiles. A thread that wants the write
lock gives up after three seconds.
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
