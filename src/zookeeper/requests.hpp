// SPDX-License-Identifier: Apache-2.0
// Table of the requests that have no answer yet, by number, and table of the watchers of nodes. The
// tables do no I/O and read no clock.
#pragma once

#include "net/failure.hpp"
#include "runtime/monitor.hpp"
#include "zookeeper/protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

class inline_caller;

/// A request of a session. The request is *settled* when it was answered, has failed or was given
/// up. The caller and `requests` share the object.
struct request {
    explicit request(message m)
        : what{std::move(m)} {}

    const message what;
    /// Function that is called with the answer, before `resume` and before later answers are read.
    std::function<void(const request&)> on_answer{};

    enum class stage : std::uint8_t { queued, written, settled };
    stage standing = stage::queued;
    time_point asked_at{};
    time_point sent_at{};
    std::int32_t number = 0;

    // Result of the request; valid after the request was settled.
    std::int32_t error = 0; ///< error in the answer
    std::string body{};     ///< body of the answer
    std::shared_ptr<const net::failure> failed{};

    /// Handler that resumes the waiting caller; may be empty. Use swap and do not assign, because
    /// the move assignment of Boost 1.81 recurses without end.
    using waiter = asio::any_completion_handler<void()>;
    waiter resume{};
    /// Calling thread that waits for this request itself. Null if there is no such thread.
    zookeeper::inline_caller* inline_caller = nullptr;
    std::optional<runtime::monitor::load> under_way{};
};

using shared_request = std::shared_ptr<request>;

class requests {
public:
    explicit requests(std::int32_t first_number = 1)
        : next_number_{first_number} {}

    void ask(shared_request, time_point now);

    bool anything_queued() const;
    /// Appends the next queued request to `out`. Returns the request, or null if the queue is
    /// empty.
    shared_request write_next(std::string& out, time_point now);
    /// Appends a ping. No caller waits for its answer.
    void write_ping(std::string& out, time_point now);

    /// Content of a received frame.
    struct heard {
        /// Request that the frame answers. Null if the frame answers no request, or if the
        /// request's caller no longer waits.
        shared_request answered{};
        std::optional<node_event> event{};
        std::int64_t zxid = 0;
        /// Time at which the request was sent, if the frame says that the request was executed.
        /// Empty if the server refused the request, or if the frame is not an answer.
        std::optional<time_point> done{};
        bool is_write = false; ///< true: the request was a write
        std::int32_t error = 0;
    };
    /// Reads a frame. Throws `net::failure` (protocol) if the frame is neither an event nor the
    /// answer to a request.
    heard hear(std::string_view frame);

    /// Ends the wait for the request. If the request was already sent, its answer is ignored when
    /// it comes.
    void give_up(request&);
    /// Ends and returns the requests that were made at or before `asked_by`.
    std::vector<shared_request> late(time_point asked_by);
    /// Returns the time at which the oldest unsettled request was made.
    std::optional<time_point> oldest() const;

    /// Ends and returns all requests that were sent and have no answer. No answers will come,
    /// because the connection is lost.
    std::vector<shared_request> drop_written();
    std::vector<shared_request> drop_queued();

    /// Returns the number of requests without an answer, including requests that were given up.
    std::size_t size() const { return queued_.size() + written_.size(); }
    /// Returns the time at which the oldest unanswered request or ping was sent.
    std::optional<time_point> owed_since() const;

private:
    std::int32_t next_number();
    void settle(request&);
    void drop_settled();
    std::vector<shared_request> drop(std::deque<shared_request>&);

    std::deque<shared_request> by_age_; // unsettled requests in the order of the calls of `ask`
    std::deque<shared_request> queued_; // queued requests in the order of the calls of `ask`
    // Requests in the order of sending. The answers come in the same order.
    std::deque<shared_request> written_;
    std::deque<time_point> pings_; // time at which each unanswered ping was sent
    std::int32_t next_number_;
};

/// Table of the watchers of nodes. Each watcher is called once. The server keeps its own list for
/// each connection and path, so an event may belong to no watcher of this table. The table ignores
/// such an event.
class watches {
public:
    enum class of : bool { node, children };

    struct watcher {
        of what = of::node;
        std::string path{};
        /// Callback of the watcher. Empty if the callback was called already, or if the watcher was
        /// removed.
        std::function<void()> tell{};
    };
    using shared_watcher = std::shared_ptr<watcher>;

    void add(shared_watcher);
    void remove(const shared_watcher&);

    /// Calls the watchers of the node in the event.
    void heard(const node_event&);

    /// Calls all watchers, because events may have been missed.
    void tell_all();

    std::size_t size() const { return all_.size(); }

private:
    using list = std::multimap<std::string, shared_watcher>;

    static bool concerns(const node_event&, const watcher&);
    static void tell(const std::vector<shared_watcher>&);

    list all_;
};

} // namespace holdfast::zookeeper
