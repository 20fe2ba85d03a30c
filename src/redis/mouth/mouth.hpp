// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/later.hpp"
#include "net/lookout.hpp"
#include "redis/link/link.hpp"
#include "redis/mouth/pipeline.hpp"
#include "redis/mouth/portrait.hpp"
#include "redis/suspicion.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace holdfast::redis {

/// A connection for requests. What is asked while a write is under way goes out with the next one,
/// and answers are matched to who asked by their order alone.
///
///   asked ─▶ queued ─▶ written ─▶ answered
///              │          ├─▶ late: outcome_unknown. Its answer is still awaited, since what is
///              │          │   sent behind it is carried out behind it; after twice the time the
///              │          │   connection is given up
///              │          └─▶ connection lost: outcome_unknown
///              └─▶ late, or no connection can be made: unreachable; else it waits for the next one
///
/// Whoever waits is resumed from within the loop that reads.
///
/// One that confirms asks behind each batch, once for all of it, how many replicas have it, and
/// writes nothing until that is answered: meanwhile the next batch forms by itself. What is
/// answered there waits for that. Nothing else goes over such a connection, for it would stand
/// behind a slow replica.
///
/// The one for `purpose::commands` is connected while this client holds anything, and casts doubt
/// on all holds after each reconnection. The other one is closed when it is idle.
class mouth final : public std::enable_shared_from_this<mouth>, private talker {
public:
    /// `replicas`: so many are to confirm what is asked here; 0: none.
    mouth(std::shared_ptr<node_context>, purpose, std::uint8_t replicas = 0);

    /// As node::call.
    asio::awaitable<reply> ask(const script&, request::names_list keys,
                               request::arguments_list arguments, const call_wishes&);

    /// Makes a connection now if there is none, though nothing is asked.
    void stay_connected();

    /// Whether somebody has waited here as long as it wanted, and no answer has come since.
    bool silent() const {
        return link_.connected() && (stuck_ || pipeline_.owes_what_was_given_up());
    }

    /// Whether an answer is still to come here.
    bool owes() const { return link_.connected() && pipeline_.owed_since().has_value(); }

    /// Whether that answer came by the present connection.
    bool gave(const reply& said) const { return said.clock && said.clock == link_.server_clock(); }

    server_identity identity() const { return portrait_.identity(); }

    /// Ends the connection, and what was sent over it is unknown.
    void cut(const net::failure& why) { link_.cut(why); }
    void move(const net::failure& why) { link_.move(why); } ///< likewise; see link

    /// Ends the connection if it owes an answer since then or longer; returns whether it did. One
    /// that waits for replicas may owe one for long.
    bool cut_silent(time_point since, const net::failure& why);

    /// Asks the server whether it still hears this connection.
    void ask_if_there();

    /// Ends the connection, or the attempt to make one, if that may lead to another server.
    void follow(const server_in_use&, const net::failure& why);

    bool is_connected() const { return link_.connected(); }

    /// Ends who waits, with `errc::closed`, but not within this call.
    void close();

    /// Likewise, since the server is asked no more: as never sent, or as unknown if it was.
    void retire(const std::string& why);

private:
    /// More than that is not written at once, so that what is far behind can still be withdrawn.
    static constexpr std::size_t batch_bytes_max = 256 * 1024;

    /// A peer that vanished is found in a third of the default lease, if nothing is said meanwhile,
    /// but nobody is asked more often than an answer may take, nor less than this.
    static constexpr duration idle_max = std::chrono::minutes{1};

    using question = pipeline::question;

    bool wants_to_talk() const override;
    void speak(std::string& out) override;
    void hear(reply&, time_point received_at) override;
    void connected(const introduction&) override;
    void connection_failed(const net::failure&) override;
    void connection_lost(const net::failure&) override;
    std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void watch_for(time_point limit) { lookout_.watch_for(limit, shared_from_this()); }
    time_point next_limit() const;
    void limit_reached(time_point now);

    void admit(const call_wishes&) const;
    void write_queued(std::string& out, time_point now);
    void answer_given(request&, reply&, const pipeline::written&, time_point received_at);
    void confirmation_given(const reply&);
    void meet(const introduction&);
    void judge(const reply&, question);
    void enqueue(request&);
    void withdraw(request&);
    void resume(request&);
    void end(const std::vector<request*>&, const net::failure& why);
    void idle();
    time_point idle_until() const { return net::later(last_heard_, idle_bound_); }
    time_point give_up_at(time_point owed_since) const {
        return net::later(net::later(owed_since, patience_), patience_);
    }
    bool anything_held() const { return context_->home.holds_any && context_->home.holds_any(); }
    void close_down(const net::failure& of_written, const net::failure& of_queued);
    net::failure unsent(const request&) const;
    net::failure unanswered(duration within) const;

    const std::shared_ptr<node_context> context_;
    const purpose purpose_;
    const std::uint8_t replicas_;
    const duration patience_;
    const duration idle_bound_;
    pipeline pipeline_;
    suspicion suspicion_;
    std::optional<net::failure> trouble_; // why there is no connection
    time_point last_heard_{};
    portrait portrait_;
    question idle_question_ = question::ping;
    bool question_is_due_ = false;
    bool stays_ = false;                 // wants a connection, though nothing is asked
    bool stuck_ = false;                 // the connection took no more
    std::optional<net::failure> closed_; // what is told to whoever asks since
    link link_;
    net::lookout lookout_;
};

} // namespace holdfast::redis
