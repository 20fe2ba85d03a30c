// SPDX-License-Identifier: Apache-2.0
// An ensemble in memory, as a store sees it through its session: one tree of nodes, sessions that
// end, watches, answers that get lost. Time does not end a session here; the test does.
#pragma once

#include "zookeeper/session.hpp"

#include <holdfast/error.hpp>
#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

/// What one request meets on its way.
struct zookeeper_fate {
    bool unsent = false; ///< the server cannot be reached
    bool answer_lost =
        false;         ///< it is carried out; the connection is lost, and the session goes on
    bool lost = false; ///< likewise, but it never arrived
    std::optional<store_errc> refused{};
};

struct zookeeper_call {
    std::string_view verb; ///< "create", "create_and_list", "list", "get", "set", "remove", …
    std::string_view path;
};

/// Thread safety: any; the sessions' members are their executors' alone.
class zookeeper_model {
public:
    using fault_function = std::function<zookeeper_fate(const zookeeper_call&)>;
    class model_session;

    struct figures {
        std::size_t creates = 0, lists = 0, watches = 0, gets = 0, removes = 0, confirms = 0,
                    syncs = 0, all = 0;
    };

    zookeeper_model();
    zookeeper_model(const zookeeper_model&) = delete;
    ~zookeeper_model();

    /// One client's session, which opens with its first request.
    std::unique_ptr<zookeeper::session> connect(const store_context&, fault_function = {},
                                                duration timeout = std::chrono::seconds{10});

    // What others do, or operators.

    static constexpr std::int64_t strangers_session = 0x57;
    /// Its path; a numbered one has the number at its end. What is above it is made, too.
    std::string make(std::string path, zookeeper::node_mode,
                     std::int64_t session = strangers_session, std::string data = {});
    bool erase(const std::string& path);
    std::optional<zookeeper::node_data> at(const std::string& path);
    std::vector<std::string> children(const std::string& path); ///< in the order of the map
    void set_next_number(const std::string& path, std::int64_t);
    void erase_if_empty(const std::string& path); ///< as it does with containers, once a minute

    void end_session(std::int64_t);       ///< its nodes go, and its client is told
    void set_servers(zookeeper::survey);  ///< as they are seen; there is none at first
    void cut(std::int64_t);               ///< its connection: the next request resumes it
    std::vector<std::int64_t> sessions(); ///< that are open

    figures so_far();
    std::size_t watches(); ///< that are set

private:
    struct node {
        std::string data{};
        zookeeper::node_stat stat{};
        std::int64_t next_number = 0;
    };
    struct set_watch {
        std::string path;
        bool of_children;
        std::int64_t session;
        std::function<void()> fire; ///< posts
    };
    class watch_handle;

    // All of these under the mutex.
    zookeeper::session::creation create(const zookeeper::new_node&, std::int64_t session);
    zookeeper::listing list(const std::string& path) const;
    std::optional<zookeeper::node_data> see(const std::string& path) const;
    zookeeper::session::removal remove(const std::string& path);
    void fire(const std::string& path, bool of_children);
    std::uint64_t watch(set_watch);

    std::mutex mutex_;
    std::map<std::string, node> nodes_;
    std::map<std::uint64_t, set_watch> watches_;
    std::map<std::int64_t, model_session*> sessions_;
    figures figures_;
    zookeeper::survey seen_;
    std::int64_t zxid_ = 0x100;
    std::int64_t next_session_ = 0x1000;
    std::uint64_t next_watch_ = 0;
};

} // namespace holdfast::support
