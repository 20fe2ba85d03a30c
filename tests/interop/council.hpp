// SPDX-License-Identifier: Apache-2.0
// Fixture with two processes at several servers: one of another library (a JVM or another program)
// and one of holdfast. Each test is written once and runs with both assignments of the roles, as
// the tests of meeting.hpp do.
//
//     class Quorum : public council { Quorum() : council{5} {} };
//     HOLDFAST_COUNCIL(Quorum, redissons());
//     TEST_P(Quorum, …) { first().majority("alice", "L").lock(); … second() … }
#pragma once

#include "interop/remote.hpp"
#include "support/redis_server.hpp"

#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::interop {

// A process that uses several servers, and its locks that are made of several locks.

/// One of the locks that are taken together: the number of its server, and its name.
struct member {
    std::size_t server;
    std::string name;
};

/// The clients of one process, one at each server.
class delegation {
public:
    delegation(peer&, bool is_jvm, const std::vector<std::string>& urls, const client_settings&);
    delegation(const delegation&) = delete;
    ~delegation();

    bool is_jvm() const { return clients_.front()->is_jvm(); }
    peer& process() { return clients_.front()->process(); }
    remote_client& client(std::size_t server) { return *clients_.at(server); }

    /// Of that thread: one lock at one server, all of several, a majority of those of one name.
    /// Their calls may take long: a JVM that misses a message looks again when a lease is over, and
    /// one that asks a dead server waits for it again and again.
    remote_lock one(const std::string& actor, const member&, const std::string& getter = "getLock");
    remote_lock all(const std::string& actor, const std::vector<member>&);
    remote_lock majority(const std::string& actor, const std::string& name,
                         const std::string& getter = "getLock");

private:
    remote_lock combined(const std::string& actor, const std::string& object,
                         const std::vector<member>&, const std::string& getter);

    std::vector<std::unique_ptr<remote_client>> clients_;
    std::set<std::pair<std::string, std::string>> known_; // locks of several, made already
};

/// As `soon`, for what such locks are asked. Throws what the call throws.
json::value patiently(ongoing);

using namespace std::chrono_literals;
using support::eventually;
using support::soon;

struct encounter {
    std::string redisson{};  ///< a version of it; else
    std::string neighbour{}; ///< this program; both empty: there is nobody to meet
    bool ours_first = false;
    support::server_binary server{}; ///< all of them are such; no label: all kinds in turn
};
void PrintTo(const encounter&, std::ostream*);

/// In either role: each version of Redisson; these programs; these on each kind of server.
std::vector<encounter> redissons();
std::vector<encounter> neighbours(const std::vector<std::string>& names);
std::vector<encounter> neighbours_on_each_server(const std::vector<std::string>& names);

/// For what is the same in both roles.
std::vector<encounter> in_one_role(std::vector<encounter>);

std::string name_of_encounter(const ::testing::TestParamInfo<encounter>&);

class council : public ::testing::TestWithParam<encounter> {
protected:
    /// `primitive`: under which name docs/compatibility.md counts the tests.
    council(std::size_t servers, std::string primitive)
        : size_{servers}
        , primitive_{std::move(primitive)} {}

    void SetUp() override;

    std::size_t size() const { return size_; }
    std::size_t majority() const { return size_ / 2 + 1; }
    support::redis_server& server(std::size_t which = 0) { return *servers_.at(which); }

    /// How the clients shall be, for those who want it otherwise; before they are first used.
    void have_clients(client_settings how) { how_ = std::move(how); }

    delegation& others();
    delegation& ours();
    delegation& first() { return others_are_first() ? others() : ours(); }
    delegation& second() { return others_are_first() ? ours() : others(); }
    bool others_are_first() const { return !GetParam().ours_first; }

    /// Further ones, of new processes, which may be killed.
    std::unique_ptr<peer> new_process(bool of_others);
    std::unique_ptr<delegation> delegation_of(peer&, bool of_others);

    /// SIGKILL. It is not asked any more by what follows.
    void kill_server(std::size_t which);

    /// On how many of the servers there is such a key; all their keys.
    std::size_t count_of(const std::string& key);
    std::int64_t keys();

    /// When each server ends its lease, by its own clock; and how many of those times are over. No
    /// such key: it has ended.
    std::vector<std::chrono::microseconds> ends_of(const std::string& key);
    std::size_t ended(const std::vector<std::chrono::microseconds>& ends);

private:
    bool misses_somebody(); ///< then it has said so
    void start_servers();
    void describe();

    const std::size_t size_;
    const std::string primitive_;
    client_settings how_{.lease_time = duration{10s}};
    std::vector<std::unique_ptr<support::redis_server>> servers_;
    std::vector<std::size_t> living_;
    std::unique_ptr<peer> neighbour_, our_process_;
    std::unique_ptr<delegation> others_, ours_;
};

} // namespace holdfast::interop

#define HOLDFAST_COUNCIL(suite, ...)                                                               \
    INSTANTIATE_TEST_SUITE_P(With, suite, ::testing::ValuesIn(__VA_ARGS__),                        \
                             ::holdfast::interop::name_of_encounter)
