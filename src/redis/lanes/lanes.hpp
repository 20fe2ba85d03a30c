// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/backoff.hpp"
#include "redis/lanes/lane.hpp"
#include "redis/suspicion.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// The lanes to one server: made in the background when they are wanted, lent to one call at a
/// time, closed when nobody wants them any more. There is no waiting for one: who finds none takes
/// the shared connection.
class lanes : public std::enable_shared_from_this<lanes> {
public:
    explicit lanes(std::shared_ptr<node_context>);

    /// One lane, for as long as this lives; or none.
    class loan {
    public:
        explicit loan(lanes& all)
            : all_{all}
            , lent_{all.borrow()} {}
        loan(const loan&) = delete;
        ~loan() {
            if (lent_)
                all_.give_back(*lent_);
        }
        explicit operator bool() const noexcept { return lent_ != nullptr; }
        lane* operator->() const noexcept { return lent_; }

    private:
        lanes& all_;
        lane* const lent_;
    };

    /// Some lane owes an answer that nobody may come for.
    void collect_soon();

    /// Ends all that there are, each as soon as nobody uses it: what is asked there has its answer.
    void cut(const net::failure& why);

    /// Ends all at once, with what is asked there.
    void move(const net::failure& why);

    /// Ends those that owe an answer since then or longer, with what is asked there; returns
    /// whether there were any. One that waits for replicas may owe one for long.
    bool cut_silent(time_point since, const net::failure& why);

    /// Ends those that may lead to another server, with what is asked there.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the one by which that answer came, if it is one of these, and what is asked there.
    void distrust(const reply&);

    /// Ends what is under way.
    void close();

private:
    /// A program that locks once or twice needs no second connection.
    static constexpr unsigned wishes_min = 4;
    static constexpr duration idle_max = std::chrono::seconds{10};
    /// How long an answer that is owed may lie there unread.
    static constexpr duration collect_period{1};

    struct entry {
        std::unique_ptr<lane> line;
        time_point used_at;
        std::string run_id; ///< of its server; empty: not told
        bool lent = false;
        bool leaves = false; ///< is not to be used again
        time_point lent_at{};
    };

    void sweep_soon();
    lane* borrow();
    void give_back(const lane&);
    void wish_for_one_more();
    static asio::awaitable<void> open(std::shared_ptr<lanes>);
    static asio::awaitable<void> close_idle(std::shared_ptr<lanes>);
    static asio::awaitable<void> collect(std::shared_ptr<lanes>);
    bool any_owes() const;
    void suspect_soon();
    static asio::awaitable<void> suspect(std::shared_ptr<lanes>);
    std::optional<time_point> owed_since() const;

    const std::shared_ptr<node_context> context_;
    runtime::answer_wait wait_;
    suspicion suspicion_;
    net::backoff backoff_;
    const std::unique_ptr<alarm> tidying_;
    const std::unique_ptr<alarm> collecting_;
    const std::unique_ptr<alarm> suspecting_;
    std::vector<entry> all_;
    std::shared_ptr<connection> opening_; // the one that is being made
    unsigned wishes_ = 0;
    time_point not_before_ = time_point::min(); // the next is made
    bool tidies_ = false;
    bool collects_ = false;
    bool suspects_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
