// SPDX-License-Identifier: Apache-2.0
// The processes of the interoperability tests: JVMs with Redisson, other programs, and holdfast.
// All of them accept the same commands (README.md).
#pragma once

#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::interop {

namespace json = boost::json;

/// What a peer said went wrong, in its own words.
struct peer_failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A call that is under way.
struct ongoing {
    std::int64_t id;
    std::future<json::value> answer;
};

/// One such process. Thread safety: every member but the destructor.
class peer {
public:
    /// What it complains of goes to `<label>.log` beside this program.
    peer(const std::vector<std::string>& command, const std::string& label);
    peer(const peer&) = delete;
    ~peer();

    ongoing begin(json::object command);

    /// The answer, waited for. Throws `peer_failure`, also if the process ends meanwhile.
    json::value ask(json::object command) {
        return support::soon(begin(std::move(command)).answer);
    }

    /// SIGKILL, and returns when the process is gone.
    void kill();

private:
    void listen();

    support::child_process process_;
    std::mutex mutex_; // guards what follows
    std::int64_t last_id_ = 0;
    std::map<std::int64_t, std::promise<json::value>> open_;
    bool gone_ = false;

    std::jthread listener_{[this] { listen(); }};
};

/// The versions of Redisson that `./dev interop` has built a peer with; none elsewhere.
std::vector<std::string> redisson_versions();

/// Further versions, for a few tests on one server.
std::vector<std::string> redisson_versions_met_once();

/// Other programs' locks that it has built a peer for: "redis-py", "redsync", "node-redlock", and
/// at ZooKeeper "curator", "kazoo".
bool has_neighbour(const std::string& name);

std::unique_ptr<peer> start_neighbour(const std::string& name);
std::unique_ptr<peer> start_jvm(const std::string& redisson);
std::unique_ptr<peer> start_ours();

/// One JVM for all tests of a version that leave it alive, since it takes seconds to warm up.
peer& shared_jvm(const std::string& redisson);
/// Likewise.
peer& shared_neighbour(const std::string& name);

/// Skips the running test with the reason, or fails it where servers are required.
inline void miss_redisson() {
    constexpr const char* why = "these tests need a JVM with Redisson: ./dev interop";
    if (support::servers_are_required())
        FAIL() << why;
    GTEST_SKIP() << why;
}

/// For tests that mix versions of Redisson: once on each server.
class with_redisson : public support::on_each_server {
protected:
    with_redisson()
        : on_each_server{{.tcp = true}} {}

    void SetUp() override {
        if (redisson_versions().empty())
            return miss_redisson();
        on_each_server::SetUp();
    }
};

} // namespace holdfast::interop
