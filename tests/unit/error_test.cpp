// SPDX-License-Identifier: Apache-2.0
#include "config/errors.hpp"
#include "redis/client/error_replies.hpp"
#include "support/source_tree.hpp"

#include <holdfast/error.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast {

// How many errors there are, for tests that go through all of them.

inline constexpr int errcs = static_cast<int>(errc::forked);
inline constexpr int store_errcs = static_cast<int>(store_errc::worn_out);

namespace {

TEST(Error, EveryValueHasASentenceOfItsOwn) {
    std::set<std::string> said;
    for (int value = 1; value <= errcs; ++value)
        said.insert(make_error_code(static_cast<errc>(value)).message());
    for (int value = 1; value <= store_errcs; ++value)
        said.insert(make_error_code(static_cast<store_errc>(value)).message());
    EXPECT_EQ(said.size(), static_cast<std::size_t>(errcs + store_errcs));
    for (const std::string& sentence : said) {
        EXPECT_TRUE(sentence.ends_with('.')) << sentence;
        EXPECT_EQ(sentence.find("no error"), std::string::npos) << sentence;
    }
}

// An asynchronous function reports only the code, so the caller has no text besides the message.
TEST(Error, NoMessageRefersToATextBesideTheCode) {
    std::vector<std::string> messages;
    for (int value = 1; value <= errcs; ++value)
        messages.push_back(make_error_code(static_cast<errc>(value)).message());
    for (int value = 1; value <= store_errcs; ++value)
        messages.push_back(make_error_code(static_cast<store_errc>(value)).message());
    for (const std::string& message : messages)
        for (const char* const reference : {"the text", "The text", "say why", "says why"})
            EXPECT_EQ(message.find(reference), std::string::npos) << message;
}

TEST(Error, AServersRefusalSaysWhatIsKnownAndWhatToDo) {
    const std::string sentences = make_error_code(store_errc::no_replicas).message();
    EXPECT_EQ(sentences, "The server has too few replicas and takes no writes. "
                         "Nothing was changed. "
                         "Bring its replicas back, or lower min-replicas-to-write.");
}

TEST(Error, WhatIsNoValueSaysSo) {
    EXPECT_EQ(make_error_code(errc{errcs + 1}).message(), "This is not an error of holdfast.");
    EXPECT_EQ(make_error_code(store_errc{0}).message(), "This is not an error of a store.");
}

TEST(Error, ACodeEqualsItsCondition) {
    for (int value = 1; value <= errcs; ++value)
        for (int other = 1; other <= errcs; ++other)
            EXPECT_EQ(make_error_code(static_cast<errc>(value)) == static_cast<errc>(other),
                      value == other);
}

TEST(Error, WhatAServerAnsweredEqualsExactlyOneErrc) {
    const std::pair<store_errc, errc> documented[] = {
        {store_errc::loading, errc::unreachable},
        {store_errc::busy_script, errc::unreachable},
        {store_errc::read_only, errc::unreachable},
        {store_errc::master_down, errc::unreachable},
        {store_errc::cluster_down, errc::unreachable},
        {store_errc::try_again, errc::unreachable},
        {store_errc::too_many_clients, errc::unreachable},
        {store_errc::no_replicas, errc::unreachable},
        {store_errc::disk_trouble, errc::unreachable},
        {store_errc::out_of_memory, errc::refused},
        {store_errc::no_permission, errc::refused},
        {store_errc::not_authenticated, errc::refused},
        {store_errc::untrusted, errc::refused},
        {store_errc::wrong_type, errc::refused},
        {store_errc::tls_failed, errc::unreachable},
        {store_errc::script_killed, errc::outcome_unknown},
        {store_errc::protocol, errc::outcome_unknown},
        {store_errc::other, errc::refused},
        {store_errc::not_replicated, errc::outcome_unknown},
        {store_errc::wrong_address, errc::refused},
        {store_errc::not_set_up, errc::refused},
        {store_errc::unfit, errc::refused},
        {store_errc::worn_out, errc::refused},
    };
    EXPECT_EQ(std::size(documented), static_cast<std::size_t>(store_errcs));
    for (const auto& [answered, meant] : documented)
        for (int value = 1; value <= errcs; ++value)
            EXPECT_EQ(make_error_code(answered) == static_cast<errc>(value),
                      static_cast<errc>(value) == meant)
                << make_error_code(answered).message();
}

TEST(Error, AServersAnswerKeepsItsOwnCode) {
    const error_code answered = make_error_code(store_errc::loading);
    EXPECT_EQ(answered, store_errc::loading);
    EXPECT_NE(answered, make_error_code(errc::unreachable));
    EXPECT_STREQ(answered.category().name(), "holdfast.store");
}

TEST(Error, ConvertsToTheStandardLibrarysError) {
    const std::error_code code = make_error_code(errc::lease_lost);
    EXPECT_STREQ(code.category().name(), "holdfast");
    EXPECT_EQ(code.message(), make_error_code(errc::lease_lost).message());
}

// docs/errors.md is written by this test: HOLDFAST_REWRITE=1 tests/unit_test, and look at the diff.

/// Lines of the page that are longer than lines of code may be are made of several here.
constexpr const char* head =
    "# Errors\n"
    "\n"
    "This page lists the errors of holdfast: what each error means, what you know after it, and "
    "what you\n"
    "can do. The tables contain the same words as the error messages, because the test\n"
    "`tests/unit/error_test.cpp` generates the page from `src/config/errors.cpp`.\n"
    "\n"
    "A busy lock and an expired timeout are results, not errors. A call reports a failure by an "
    "exception\n"
    "of the type `boost::system::system_error`, or by an `error_code`. You can compare each error "
    "code\n"
    "with the dozen values of `errc` (for example, `ec == errc::unreachable`). If a server replied "
    "with\n"
    "an error, the code is a `store_errc`, which is equal to one of these values. Then the text of "
    "the\n"
    "exception, and the text of the observer's event, begin with the server's own words.\n"
    "\n"
    "## In terms of the lock\n"
    "\n"
    "| `errc` | What it means | What you know now | What to do |\n"
    "|---|---|---|---|\n";

constexpr const char* between =
    "\n"
    "The *store* is the server that keeps the locks. The following table shows what a client does "
    "if the\n"
    "store fails:\n"
    "\n"
    "| The failure is | `lock()`, `try_lock_for()` | `unlock()` | Renewal |\n"
    "|---|---|---|---|\n"
    "| `unreachable`, `outcome_unknown` | the call repeats the request with growing pauses, for "
    "`unavailable_timeout` or until its own timeout. Then it throws | the client repeats the "
    "release until the lease has ended. The caller gets the error after `release_timeout`, or up "
    "to one command timeout later | the client repeats the renewal until the validity time of the "
    "lock ends. `in_danger()` warns before that |\n"
    "| `refused` | the call throws at once | the client repeats the release until the lease has "
    "ended. If the server refuses the release itself, the caller gets the error at once, and the "
    "client repeats the release every few seconds | the client repeats the renewal until the "
    "validity time of the lock ends, because somebody may grant the missing right meanwhile |\n"
    "| `overloaded` | the call throws at once | the client repeats the release as after "
    "`unreachable` | the client repeats the renewal as after `unreachable` |\n"
    "\n"
    "**A timeout without a reply.** If the store did not reply to the last request of a call, the "
    "client\n"
    "does not know whether the lock is busy. At its timeout, the call then fails with the error of "
    "that\n"
    "request, and does not report a busy lock. If another call of the same client waits behind "
    "this call,\n"
    "it fails with `unreachable` at its own timeout. These rules are also true for a `multi_mutex` "
    "and a\n"
    "`quorum_mutex`.\n"
    "\n"
    "**A `multi_mutex`** takes several locks. If the request for one of them fails, the call fails "
    "with\n"
    "the same error.\n"
    "\n"
    "**A `quorum_mutex`.** A call continues without the nodes that fail, as long as a majority of "
    "the\n"
    "nodes is left. If fewer are left, the call fails with `unreachable`, and the text of the "
    "error names\n"
    "each node. `unlock()` reports `outcome_unknown` if fewer than a majority of the nodes "
    "acknowledged\n"
    "the release. It reports `lease_lost` only if fewer than a majority of the nodes still had the "
    "lock.\n"
    "If the same server is in a quorum twice, the error is `invalid_argument`. The client may "
    "notice this\n"
    "only at the first attempt to lock.\n"
    "\n"
    "**Calls that only read**, for example `inspect()`, `list()`, `is_locked()` and `count()`, "
    "throw the\n"
    "first error at once if there is only one server. Behind Sentinels and in a cluster, another "
    "server\n"
    "may take over. Therefore such a call repeats its request there after `unreachable` and\n"
    "`outcome_unknown`, for at most `unavailable_timeout`. The asynchronous versions of these "
    "calls\n"
    "always report the first error, because they cannot be cancelled.\n"
    "\n"
    "**`force_unlock()`.** With one server, the call reports the first error at once. Behind "
    "Sentinels\n"
    "and in a cluster, the blocking call repeats its request after `unreachable`, for at most\n"
    "`unavailable_timeout`. After `outcome_unknown`, the first request may have removed the lock "
    "already,\n"
    "so a repeated request could remove the lock of the next holder. Therefore the call repeats "
    "the\n"
    "request only if its argument `only_from` names the owner of a holdfast client, because such "
    "an owner\n"
    "is used for one hold only. If this owner no longer has the lock, the result is true, because "
    "the\n"
    "first request may have removed it. A Java thread has the same owner in each of its holds, so "
    "for\n"
    "such an owner the call throws `outcome_unknown`. The asynchronous version always reports the "
    "first\n"
    "error.\n"
    "\n"
    "**Counters** (semaphores, latches and rate limiters). If a request that changes a counter "
    "fails, the\n"
    "client repeats it for `unavailable_timeout`. Each repetition has the same request number, so "
    "the\n"
    "server changes the counter only once. If no repetition succeeds, the call fails:\n"
    "\n"
    "- If the error is `unreachable` or `refused`, the counter has not changed. A release beyond "
    "the\n"
    "  limit `most` also fails with `refused`.\n"
    "- If the error is `outcome_unknown`, the counter may have changed, and the client does not "
    "repeat\n"
    "  the request any more.\n"
    "\n"
    "**If the store fails, held locks are not lost at once.** A lock is lost when the server says "
    "that\n"
    "the client does not hold it any more, or when its validity time ends.\n"
    "\n"
    "**A blocked executor.** A client that was created with an executor works only while a thread "
    "runs\n"
    "this executor. If no thread runs it, or if a handler on it does not return, the client cannot "
    "send\n"
    "requests. Then a blocking call returns two seconds after its timeout, and `unlock()` two "
    "seconds\n"
    "after `release_timeout`. The text of the error is \"nobody runs the client's executor, or a "
    "handler\n"
    "that runs there does not return\". The code is `unreachable` if the client had not begun the "
    "attempt,\n"
    "so that it sent nothing. If it had begun, the code is `outcome_unknown`. Only `lock()` "
    "without a stop\n"
    "token waits for ever.\n"
    "\n"
    "When the executor runs again, the client cancels the call that has returned, releases the "
    "lock that\n"
    "this call got meanwhile, and sends the release of an `unlock()`. To avoid a blocked executor, "
    "make\n"
    "blocking calls only on threads that do not run the client's executor. Or create the client "
    "without\n"
    "an executor: then the client has its own thread.\n"
    "\n"
    "## What a server answers\n"
    "\n"
    "If a server replies with an error, the error code is a `store_errc`. The second column of "
    "the\n"
    "following table shows how the error replies of Redis and Valkey begin, for example with "
    "LOADING. If\n"
    "an error has no such reply, this column says in brackets how the client notices the error. "
    "[The last\n"
    "table](#what-mysql-and-zookeeper-answer) is for the errors of MySQL, MariaDB and ZooKeeper.\n"
    "\n"
    "| `store_errc` | The server says | Equal to | What it means | What to do |\n"
    "|---|---|---|---|---|\n";

constexpr const char* behind =
    "\n"
    "## What MySQL and ZooKeeper answer\n"
    "\n"
    "For errors of MySQL and ZooKeeper, holdfast uses the same codes as for Redis, which the "
    "[table\n"
    "above](#what-a-server-answers) explains. The following table lists the error numbers of the "
    "servers\n"
    "for each code. The text of the exception contains the server's words and its error number.\n"
    "\n"
    "| `store_errc` | MySQL, MariaDB | ZooKeeper | Equal to | What to do |\n"
    "|---|---|---|---|---|\n"
    "| `read_only` | 1290, 1792, 1836, 3168; 1047 (Galera: not ready); at connect: `read_only`, a "
    "replica that is running, `wsrep_ready` is off | −119 `NotReadOnly` | `unreachable` | do "
    "nothing: the client asks another server of the URL |\n"
    "| `try_again` | 1205, 1213, 3101: the client repeats the request three times | −123 "
    "`ReconfigInProgress`, −127 `ThrottledOp` | `unreachable` | wait until the server has less to "
    "do |\n"
    "| `too_many_clients` | 1040, 1203, 1226 | – | `unreachable` | raise `max_connections`, or "
    "lower `connections_max` |\n"
    "| `disk_trouble` | 3, 1021, 1114; 1026 and 1030 with the system's number 28 | – | "
    "`unreachable` | free space on the server's disk |\n"
    "| `out_of_memory` | – | −125 `QuotaExceeded`; more than 10 000 nodes in the queue of one lock "
    "| `refused` | raise the quota of that path; reduce the number of waiters |\n"
    "| `no_permission` | 1142, 1143, 1227, 1370 | −102 `NoAuth` | `refused` | grant the right on "
    "[MySQL](security/mysql.md) or [ZooKeeper](security/zookeeper.md) |\n"
    "| `not_authenticated` | 1044 (no right in this schema), 1045, 1130 (not from this host), "
    "1156, 1251, 1698, 1820 and 1862 (the password has expired), 3118 and 4151 (the account is "
    "locked), 2049, 2059, 2061, 5010 | −114 `InvalidACL` (`acl=creator` without a user), −115 "
    "`AuthFailed`, −124 | `refused` | check the user, the password, or the plug-in that the text "
    "names |\n"
    "| `wrong_type` | – | −108 `NoChildrenForEphemerals`: the path is the ephemeral node of "
    "another program | `refused` | choose another name or `root` |\n"
    "| `untrusted`, `tls_failed` | 2026 | the TLS handshake fails | `refused`, `unreachable` | "
    "check the certificates and the TLS settings of the server |\n"
    "| `protocol` | 2012, 2014, 2027 | a reply that cannot be read, or that is longer than "
    "`reply_bytes_max` | `outcome_unknown` | check which program replies at this address |\n"
    "| `not_set_up` | 1049, 1146, 1054: no schema, no table, another table | −101 `NoNode`: the "
    "chroot | `refused` | run `holdfast doctor --create-tables`; on ZooKeeper, create the chroot "
    "|\n"
    "| `unfit` | 1665 (`binlog_format=STATEMENT`), `sysdate_is_now`; a session without the "
    "settings of the client (a proxy does not pass `SET` on) | −120 `EphemeralOnLocalSession` | "
    "`refused` | change the setting that the message names; let a proxy pass `SET` on |\n"
    "| `worn_out` | – | sequence numbers of a path near 2³¹ | `refused` | delete the path that the "
    "text names, while nobody uses it |\n"
    "| (`outcome_unknown`) | 2006, 2013, 1152, 1158 to 1161, 1180, 1317, 1927, 1969, 3024, 4031; "
    "no reply in time | −4, −7, −122; the connection was lost after the request | "
    "`outcome_unknown` | try again: the next attempt finds out whether the server has executed the "
    "request |\n"
    "| (`unreachable`) | 1053, 1129, 2001 to 2005, 2007 | no connection, no session; −112, −118 | "
    "`unreachable` | check the address |\n";

std::string row(const std::vector<std::string>& cells) {
    std::string line{"|"};
    for (const std::string& cell : cells)
        line += " " + cell + " |";
    return line + "\n";
}

std::string code(std::string_view name) {
    return "`" + std::string{name} + "`";
}

std::string page() {
    std::string text{head};
    for (int value = 1; value <= errcs; ++value) {
        const explanation of = explain(static_cast<errc>(value));
        text += row({code(of.name), of.meaning, of.known, of.advice});
    }
    text += between;
    for (int value = 1; value <= store_errcs; ++value) {
        const store_explanation of = explain(static_cast<store_errc>(value));
        text +=
            row({code(of.name), of.words, code(explain(of.equal_to).name), of.meaning, of.advice});
    }
    return text + behind;
}

TEST(ErrorsPage, SaysWhatTheCodeSays) {
    const std::filesystem::path path = support::source_file("docs/errors.md");
    if (std::getenv("HOLDFAST_REWRITE") != nullptr)
        std::ofstream{path} << page();
    std::ifstream file{path};
    const std::string written{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_EQ(written, page()) << "rewrite it: HOLDFAST_REWRITE=1 tests/unit_test";
}

// `LOADING`, or `MOVED, ASK, TRYAGAIN`; what is in brackets is no quotation.
TEST(ErrorsPage, NamesWordsThatAreUnderstoodSo) {
    for (int value = 1; value <= store_errcs; ++value) {
        const auto what = static_cast<store_errc>(value);
        std::istringstream all{explain(what).words};
        for (std::string words; std::getline(all >> std::ws, words, ',');) {
            EXPECT_TRUE(words.starts_with('(') || redis::classify(words) == what) << words;
        }
    }
}

} // namespace
} // namespace holdfast
