// SPDX-License-Identifier: Apache-2.0
// Fixture with two clients at one ZooKeeper server: one of Curator or kazoo, and one of holdfast.
// Each test is written once and runs with both assignments of the roles, as the tests of
// meeting.hpp do.
#pragma once

#include "interop/remote.hpp"
#include "support/zookeeper_server.hpp"

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::interop {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;

/// How kazoo and holdfast must name their nodes, so that their locks exclude each other.
enum class naming {
    own,     ///< each program has its own names; ours has those of Curator
    kazoos,  ///< ours has kazoo's
    counted, ///< ours has Curator's, which kazoo has been told to count too
    curators ///< all have Curator's: kazoo by classes derived from its own
};

struct keeper_setting {
    std::string neighbour; ///< empty: there is nobody to meet
    naming names = naming::own;
    bool ours_first = false;
    std::string getter = "getLock"; ///< or a side of a pair: what they meet at
};
void PrintTo(const keeper_setting&, std::ostream*);

/// In either role, at each of these.
std::vector<keeper_setting> with_curator(const std::vector<std::string>& getters);
/// In each naming in which it and ours exclude each other.
std::vector<keeper_setting> with_kazoo(const std::vector<std::string>& getters);
std::vector<keeper_setting> only_others_first(std::vector<keeper_setting>);

std::string name_of_keeper_setting(const ::testing::TestParamInfo<keeper_setting>&);

constexpr const char* read_side = "getReadWriteLock/readLock";
constexpr const char* write_side = "getReadWriteLock/writeLock";
constexpr const char* permit_maker = "getPermitExpirableSemaphore";

/// One for all tests of this program: each has paths of its own. Throws `server_unavailable`.
support::zookeeper_server& shared_keeper();
/// Below which nobody has written yet.
std::string new_root();

/// What programs of that name are told beside their session and root.
json::object told_to(const std::string& neighbour, naming);
json::object told_to_ours(naming);

/// The names of the ephemeral nodes below that path, as the server tells them.
std::vector<std::string> nodes_below(const support::zookeeper_server&, const std::string& path);

class keeper_meeting : public ::testing::TestWithParam<keeper_setting> {
protected:
    void SetUp() override;

    /// Before the clients are first used: more for both sides, as `client_settings::keeper`.
    void tell_both(const std::string& key, json::value what) { more_[key] = std::move(what); }

    remote_client& others();
    remote_client& ours();
    remote_client& first() { return others_are_first() ? others() : ours(); }
    remote_client& second() { return others_are_first() ? ours() : others(); }
    bool others_are_first() const { return !GetParam().ours_first; }

    /// Further clients: of the same processes, and of new ones, which may be killed.
    std::unique_ptr<remote_client> another(bool of_others);
    std::unique_ptr<peer> new_process(bool of_others);
    std::unique_ptr<remote_client> client_of(peer&, bool of_others, duration session = 10s);
    /// Whose session ends soon after it is killed.
    std::unique_ptr<remote_client> doomed_client_of(peer& process, bool of_others) {
        return client_of(process, of_others, 2s);
    }

    /// What they meet at.
    remote_lock lock_of(remote_client& whose, const std::string& actor) {
        return whose.thread(actor).lock("L", GetParam().getter);
    }
    static remote_lock side(remote_client& whose, const std::string& actor,
                            const std::string& which) {
        return whose.thread(actor).lock("L", which);
    }

    /// Of all who hold it or wait for it.
    std::vector<std::string> nodes() const { return nodes_below(shared_keeper(), path()); }
    const std::string& root() const { return *how_.root; }
    std::string path(const std::string& name = "L") const { return root() + "/" + name; }

    /// Whether so many are left. Whoever gives up does not wait until its node has gone.
    bool come_to(std::size_t count, const std::string& below = {}) const;

    /// Begins that call. Returns when its node is there, behind those that are now, or when it has
    /// been answered.
    ongoing in_line(const std::function<ongoing()>& begin);

    /// Holds what they meet at and is killed. What it leaves is there when this returns.
    void die_holding(bool of_others);

private:
    client_settings how_{.poll_bound = 1h}; // nobody of ours asks but when it is told to
    json::object more_;
    std::unique_ptr<peer> our_process_;
    std::unique_ptr<remote_client> others_, ours_;
};

} // namespace holdfast::interop

#define HOLDFAST_AT_KEEPER(suite, ...)                                                             \
    INSTANTIATE_TEST_SUITE_P(With, suite, ::testing::ValuesIn(__VA_ARGS__),                        \
                             ::holdfast::interop::name_of_keeper_setting)
