// SPDX-License-Identifier: Apache-2.0
// Requests to a server: one request (`request`), the queue of a connection's requests (`pipeline`),
// and the retries of a call (`retry_loop`).
#pragma once

#include "net/failure.hpp"
#include "redis/client/resp.hpp"
#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// True: the request is a plain command and not a script. `keys` then has all words of the command.
inline constexpr script plain_command{};

/// Appends a WAIT command, which asks how many replicas have the last write of this connection.
void compose_wait(composer, std::uint8_t replicas, duration within);

/// Throws net::failure (protocol) if `answer` is not a valid reply to WAIT.
void require_confirmation(const reply& answer);

/// Stores the result of a WAIT in the reply `of`. The client sends WAIT after a request, and `of`
/// is the reply to that request.
void note_confirmation(reply& of, const reply& answer);

/// Returns the deadline that the arguments contain. If the arguments contain no deadline, returns
/// one at `time_point::max()`.
server_deadline deadline_in(std::span<const argument>);

/// One call of a script, from its start to its reply. The object is in the frame of the coroutine
/// that waits for the reply, so a call allocates no memory.
struct request {
    using arguments_list = std::span<const argument>;
    using names_list = std::span<const std::string_view>;

    request(const script& s, names_list k, arguments_list a, const call_options& how = {})
        : what{s}
        , keys{k}
        , arguments{a}
        , options{how} {}
    request(const request&) = delete;

    /// Appends the bytes of the request: EVALSHA, EVAL, or the words of a plain command. If
    /// `options.asking` is set, the command ASKING comes first; the first reply then belongs to
    /// ASKING.
    void compose(composer, const runtime::remote_clock&) const;

    /// Returns the reply, or throws the failure. Call this function after the waiting caller was
    /// resumed.
    reply take_answer();

    const script& what;
    const names_list keys;
    const arguments_list arguments;
    const call_options options;
    /// True: send EVAL instead of EVALSHA, because the server does not know the script.
    bool with_text = false;

    /// State of the request, used only by the pipeline. The state `apart` means that the request is
    /// in no queue.
    enum class stage { apart, queued, in_flight, unconfirmed };
    stage standing = stage::apart;
    boost::intrusive::list_member_hook<> by_stage;
    boost::intrusive::list_member_hook<> by_age;
    std::uint64_t slot = 0;
    std::uint64_t ordinal = 0; ///< position in the order of the calls of ask()
    time_point asked_at{};
    time_point deadline{};     ///< may be earlier while the request is queued
    time_point answer_until{}; ///< deadline after the request was written
    bool hurried = false;      ///< true: it began with an earlier deadline than usual

    /// Handler that resumes the waiting caller. Use swap, never assignment: in Boost 1.81, the move
    /// assignment of this type recurses without end.
    using waiter = asio::any_completion_handler<void()>;
    waiter resume;
    reply answer;
    std::shared_ptr<const net::failure> failed;
};

// Queue of requests, which also finds the request of each reply. It does no I/O and reads no clock:
// the `command_connection` reads and writes, and calls this class.
//
//   ask ──▶ queued ──next_to_write──▶ in flight ──answered──▶ apart
//             ▲                            │ │                  ▲
//             └───────── ask_again ────────┘ └─▶ unconfirmed ───┘   forget: from any state to apart

/// Pipelined requests of one connection, in the order of sending.
class pipeline {
public:
    /// Kinds of commands that a connection sends.
    enum class question { script, ping, role, asking, wait };

    struct written {
        request* asker; ///< null if no caller waits for the reply
        time_point sent_at;
        question what = question::script;
        bool given_up = false; ///< true: the caller's timeout has passed
    };

    pipeline() = default;
    pipeline(const pipeline&) = delete;

    /// Queues a request. The request waits for its reply for at most `timeout`, or until its own
    /// deadline if this is earlier. If the request is still unsent at `send_until`, it fails. A
    /// `send_until` in the past is ignored: the server then decides whether the request is late.
    void ask(request&, time_point now, duration timeout, time_point send_until = time_point::max());

    /// Returns whether ASKING must be sent before the next request. The queue must not be empty.
    bool next_asks() const { return queued_.front().options.asking; }

    /// Removes the next request from the queue and returns it. The caller must write the request
    /// now. Returns null if the queue is empty.
    request* next_to_write(time_point now);

    /// Records a command that the caller writes now. No one waits for its reply.
    void write_for_nobody(question what, time_point now) {
        written_.push_back({nullptr, now, what});
        waits_ += what == question::wait;
    }

    /// Returns the sent command to which the next reply belongs, or nothing if no reply is
    /// expected. If a command is returned, the caller must call forget() or ask_again() for its
    /// request.
    std::optional<written> answered();

    /// Puts a request whose reply has come back into the queue, before all requests that were added
    /// later.
    void ask_again(request&);

    /// Keeps a request whose reply has come, until the reply to the WAIT that follows it has come,
    /// too.
    void await_confirmation(request&);
    /// Returns whether a reply to WAIT is missing. Until this reply has come, no request may be
    /// written.
    bool awaits_confirmation() const { return waits_ > 0; }
    /// Returns the requests that a reply to WAIT confirms. The caller must call forget() for each
    /// of them.
    std::vector<request*> confirmed();

    /// Removes a request. If the request was written already, its reply will be ignored.
    void forget(request&);

    /// Removes a request that has timed out. Its reply is still expected.
    void give_up(request&);

    /// Removes all written requests, because their replies are lost with the connection. Returns
    /// those requests for which a caller waits.
    std::vector<request*> drop_written();
    /// Removes all requests that were not written yet, and returns them.
    std::vector<request*> drop_queued();

    bool anything_queued() const { return !queued_.empty(); }
    std::size_t size() const { return queued_.size() + written_.size(); }

    /// Returns the request with the earliest deadline, or null.
    request* oldest();
    const request* oldest() const { return const_cast<pipeline*>(this)->oldest(); }

    /// Returns since when the oldest reply has been missing.
    std::optional<time_point> owed_since() const;

    /// Returns whether the reply to a request that timed out is still missing.
    bool owes_what_was_given_up() const { return given_up_ > 0; }

private:
    using member_hook = boost::intrusive::list_member_hook<>;
    template <member_hook request::*Hook>
    using list =
        boost::intrusive::list<request, boost::intrusive::member_hook<request, member_hook, Hook>>;

    void add_hurried(request&);

    list<&request::by_age> waiting_;  // requests with the usual timeout, sorted by deadline
    list<&request::by_age> hurried_;  // requests with an earlier deadline, sorted by deadline
    list<&request::by_stage> queued_; // in the order of ask()
    list<&request::by_stage> unconfirmed_;
    std::deque<written> written_;  // in the order of sending; the replies come in the same order
    std::uint64_t first_slot_ = 0; // `request::slot` of the entry written_.front()
    std::uint64_t asked_ = 0;      // number of calls of ask()
    std::size_t given_up_ = 0;     // number of timed-out entries in written_
    std::size_t waits_ = 0;        // number of WAIT commands in written_
};

/// Usual time from the failure of a server until another server has replaced it.
inline constexpr duration outage_of_failover = std::chrono::seconds{30};

/// Reports to the user's observer that some locks are at another server now. `told_by` names the
/// source of this information.
void tell_moved(const store_context&, const std::string& address, const std::string& told_by);

/// All calls that pause between two attempts. end() wakes them.
class pauses {
public:
    /// Ends all present and future pauses.
    void end();
    bool ended() const { return ended_; }

    void add(alarm& each) { all_.insert(&each); }
    void remove(alarm& each) { all_.erase(&each); }

private:
    std::set<alarm*> all_;
    bool ended_ = false;
};

/// Retry loop of one call. Between two attempts, it pauses. It ends when the right server is found
/// or the deadline has come.
class retry_loop {
public:
    /// Starts to measure the time of the call, and stores the call's deadline in `answer_by` of the
    /// options. The call is not repeated after the `server_deadline` in its arguments.
    retry_loop(const store_context&, std::shared_ptr<pauses>, duration command_timeout,
               call_options&, std::span<const argument>);
    retry_loop(const retry_loop&) = delete;
    ~retry_loop();

    /// Pauses after a failed attempt. Throws the failure instead if the request may have been
    /// executed, a retry cannot help, or too little time is left. Throws `closed` if the client is
    /// closed during the pause; the node may then not exist any more.
    asio::awaitable<void> rest(const net::failure&);

    time_point began() const { return began_; }
    /// Returns the time until which the call may send another request, or look for the right
    /// server.
    time_point limit() const {
        return useful_until_ > began_ ? std::min(limit_, useful_until_) : limit_;
    }

private:
    static constexpr duration pause_min{50};
    static constexpr duration pause_max{250};

    const store_context& home_;
    const std::shared_ptr<pauses> all_;
    const time_point began_;
    const time_point limit_;
    const time_point useful_until_;
    std::unique_ptr<alarm> alarm_; // created at the first pause
};

} // namespace holdfast::redis
