// SPDX-License-Identifier: Apache-2.0
// ZooKeeper ensemble in memory: a tree of nodes, sessions, watches, and replies that get lost.
// Sessions do not time out by themselves; the test ends them.
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

/// What happens to one request.
struct zookeeper_fate {
    bool unsent = false; ///< the server is not reachable
    /// The request is executed, but the connection is lost before the reply. The session continues.
    bool answer_lost = false;
    /// The connection is lost before the request arrives. The session continues.
    bool lost = false;
    std::optional<store_errc> refused{};
};

struct zookeeper_call {
    /// Kind of the request: "create", "create_and_list", "list", "get", "set", "remove", …
    std::string_view verb;
    std::string_view path;
};

/// Model of a ZooKeeper ensemble in memory. Any thread may call the model, but a session only the
/// session's executor.
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

    /// Creates the session of one client. Its first request opens it.
    std::unique_ptr<zookeeper::session> connect(const store_context&, fault_function = {},
                                                duration timeout = std::chrono::seconds{10});

    // Functions with which a test acts like another client or an operator.

    static constexpr std::int64_t strangers_session = 0x57;
    /// Creates a node, and the missing nodes above it. Returns the path of the node. The path of a
    /// sequential node ends with its number.
    std::string make(std::string path, zookeeper::node_mode,
                     std::int64_t session = strangers_session, std::string data = {});
    bool erase(const std::string& path);
    std::optional<zookeeper::node_data> at(const std::string& path);
    /// Returns the names of the children, in the order of the model's map.
    std::vector<std::string> children(const std::string& path);
    void set_next_number(const std::string& path, std::int64_t);
    /// Deletes the container if it is empty, as a server does once a minute.
    void erase_if_empty(const std::string& path);

    /// Ends a session: deletes its nodes and notifies its client.
    void end_session(std::int64_t);
    void set_servers(zookeeper::survey); ///< sets the servers that clients get; initially none
    /// Cuts the connection of the session. The next request resumes the session.
    void cut(std::int64_t);
    std::vector<std::int64_t> sessions(); ///< ids of the open sessions

    figures so_far();
    std::size_t watches(); ///< number of watches that are set

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
        std::function<void()> fire; ///< posts the callback of the watch
    };
    class watch_handle;

    // Call the next functions with the mutex held.
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
