// SPDX-License-Identifier: Apache-2.0
// A store that throws what a test wants instead of asking, and that can doubt a hold: for what the
// memory server never does.
#pragma once

#include "support/wrapped_store.hpp"

#include <holdfast/error.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/store.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// What a test does to a store. It outlives the store.
struct interference {
    /// What to throw at a request of that kind; nothing: let it through.
    std::function<error_code(memory::verb)> objects{};
    /// What came of one hold of a renewal that was let through: a code takes the place of a yes.
    std::function<error_code(const hold&)> spoils{};
    std::set<revalidator*> watchers{};     ///< one for each hold that is watched over
    std::vector<renewal_options> wishes{}; ///< of each renewal that was asked for

    bool keeps_queues = false; ///< a place that was looked at must be left, even if it was busy
    int places_left = 0;       ///< so often has leaving one succeeded
    std::uint64_t token = 0;   ///< of every grant, of whatever kind; 0: as the store says

    void object(memory::verb what) const {
        if (const error_code ec = objects ? objects(what) : error_code{})
            throw boost::system::system_error{ec, "the server's own words"};
    }
};

class doubting_watch final : public watch {
public:
    doubting_watch(interference& by, revalidator& whom)
        : by_{by}
        , whom_{whom} {
        by_.watchers.insert(&whom_);
    }
    ~doubting_watch() override { by_.watchers.erase(&whom_); }

private:
    interference& by_;
    revalidator& whom_;
};

/// Reports what a test wants of some, and the truth of the others.
class spoiling_sink final : public renewal_sink {
public:
    spoiling_sink(hold_list holds, const interference& by, renewal_sink& to)
        : holds_{holds}
        , by_{by}
        , to_{to} {}

    void renewed(std::size_t which, const answer& said) override {
        if (const error_code ec = by_.spoils ? by_.spoils(*holds_[which]) : error_code{})
            to_.failed(which, boost::system::system_error{ec, "the server's own words"});
        else
            to_.renewed(which, said);
    }
    void failed(std::size_t which, const boost::system::system_error& why) override {
        to_.failed(which, why);
    }

private:
    hold_list holds_;
    const interference& by_;
    renewal_sink& to_;
};

class objecting_place final : public place {
public:
    objecting_place(std::unique_ptr<place> real, interference& by)
        : real_{std::move(real)}
        , by_{by} {}

    asio::awaitable<answer> look() override {
        by_.object(memory::verb::look);
        lined_up_ = by_.keeps_queues;
        answer said = co_await real_->look();
        if (said.granted && by_.token != 0) {
            said.token = by_.token;
            said.tokens = 1;
        }
        co_return said;
    }
    asio::awaitable<void> leave() override {
        by_.object(memory::verb::release);
        co_await real_->leave();
        lined_up_ = false;
        ++by_.places_left;
    }
    bool must_leave() const noexcept override { return lined_up_ || real_->must_leave(); }
    bool uncertain() const noexcept override { return real_->uncertain(); }
    time_point settled_at() const noexcept override { return real_->settled_at(); }

private:
    std::unique_ptr<place> real_;
    interference& by_;
    bool lined_up_ = false;
};

class objecting_locks final : public support::wrapped_locks {
public:
    objecting_locks(lock_store& real, interference& by)
        : wrapped_locks{real}
        , by_{by} {}

    std::unique_ptr<place> line_up(ask want, alarm& wake) override {
        return std::make_unique<objecting_place>(wrapped_locks::line_up(std::move(want), wake),
                                                 by_);
    }
    asio::awaitable<void> renew(hold_list holds, const renewal_options& how,
                                renewal_sink& to) override {
        by_.wishes.push_back(how);
        try {
            by_.object(memory::verb::renew);
        } catch (const boost::system::system_error& e) {
            for (std::size_t i = 0; i < holds.size(); ++i)
                to.failed(i, e);
            co_return;
        }
        spoiling_sink others{holds, by_, to};
        co_await wrapped_locks::renew(holds, how, others);
    }
    asio::awaitable<release_answer> release(hold what) override {
        by_.object(memory::verb::release);
        co_return co_await wrapped_locks::release(std::move(what));
    }
    std::unique_ptr<watch> watch_over(const hold&, revalidator& whom) override {
        return std::make_unique<doubting_watch>(by_, whom);
    }

private:
    interference& by_;
};

inline store_factory with_interference(store_factory real, interference& by) {
    return [real = std::move(real), &by](store_context context) {
        return std::make_unique<support::wrapped_store<objecting_locks>>(real(std::move(context)),
                                                                         by);
    };
}

} // namespace holdfast::sync
