// SPDX-License-Identifier: Apache-2.0

#include "store/redis/lock_requests.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

/// Maximum number of names in one script. Such a script keeps the server busy no longer than a few
/// lock requests. Redisson uses the same number.
constexpr std::size_t batch_max = 100;

/// Number of parts into which a refused batch is split. If a part is refused, it is split again. So
/// a few requests are enough to find the names that cause the refusal.
constexpr std::size_t parts_of_refused = 10;

/// Returns whether one script may renew both holds. They must have the same client, the same
/// script, and the same number of required replicas.
bool go_together(const hold& one, const hold& other) {
    return one.owner.client == other.owner.client && one.replicas == other.replicas &&
           verbs_of(one.kind)->renew == verbs_of(other.kind)->renew;
}

/// Returns how many holds from the beginning of the list one script may renew.
template <typename Belongs>
std::size_t first_batch(hold_list holds, Belongs also) {
    std::size_t size = 1;
    while (size < std::min(holds.size(), batch_max) && go_together(*holds.front(), *holds[size]) &&
           also(*holds.front(), *holds[size]))
        ++size;
    return size;
}

/// Returns whether the error may be about a single name. In this case, the user has no permission
/// for the name, or the name is on another server ("non local key", or TRYAGAIN while a slot is
/// being migrated). After any other error, a smaller request would fail, too.
bool is_about_a_name(const boost::system::system_error& why) {
    return why.code() == store_errc::no_permission || why.code() == store_errc::other ||
           why.code() == store_errc::wrong_type || why.code() == store_errc::try_again;
}

/// State of one call of renew_holds(). All requests of the call share this state.
class renewing {
public:
    renewing(node& server, asio::any_io_executor executor, hold_list holds,
             const renewal_options& how, renewal_sink& to)
        : server_{server}
        , executor_{std::move(executor)}
        , holds_{holds}
        , how_{how}
        , to_{to} {}

    asio::awaitable<void> run() {
        if (server_.is_sharded())
            return run_sharded();
        return renew_all(parts_by([](const hold&, const hold&) { return true; }, std::nullopt));
    }

private:
    /// Holds that are adjacent in the list and are renewed by one request.
    struct part {
        std::size_t first, count;
        std::optional<shard> at;
    };
    using parts = std::vector<part>;

    template <typename Belongs>
    parts parts_by(Belongs also, std::optional<shard> at) const {
        parts all;
        for (std::size_t first = 0; first < holds_.size(); first += all.back().count)
            all.push_back({first, first_batch(holds_.subspan(first), also), at});
        return all;
    }

    /// Renews the holds of a cluster. The first requests go server by server: one request has names
    /// of all slots of its server. If a server does not have some of the names, reads the slot map
    /// again, and renews these holds a second time. Then renews the holds that still remain, slot
    /// by slot. The cluster redirects a request with names of one slot to the right server.
    asio::awaitable<void> run_sharded() {
        for (const bool anew : {false, true}) {
            const std::optional<boost::system::system_error> why = co_await learn_map(anew);
            if (why)
                co_return fail_all(*why);
            order_by([this](const hold& each) { return server_.shard_of(each.name.text); });
            parts all = parts_by(
                [this](const hold& one, const hold& other) {
                    return server_.shard_of(one.name.text) == server_.shard_of(other.name.text);
                },
                std::nullopt);
            for (part& each : all)
                each.at = server_.shard_of(holds_[each.first]->name.text);
            co_await renew_all(std::move(all));
            keep_only_elsewhere();
            if (holds_.empty())
                co_return;
        }
        order_by([this](const hold& each) { return server_.slot_of(each.name.text); });
        const auto has_same_slot = [this](const hold& one, const hold& other) {
            return server_.slot_of(one.name.text) == server_.slot_of(other.name.text);
        };
        co_await renew_all(parts_by(has_same_slot, std::nullopt));
    }

    asio::awaitable<std::optional<boost::system::system_error>> learn_map(bool anew) {
        try {
            co_await server_.shards(anew);
        } catch (const boost::system::system_error& why) {
            co_return why;
        }
        co_return std::nullopt;
    }

    /// Sorts the holds by `key`, so that holds of the same server or slot are adjacent.
    template <typename Key>
    void order_by(Key key) {
        if (places_.empty()) {
            places_.resize(holds_.size());
            std::iota(places_.begin(), places_.end(), std::size_t{0});
            all_ = holds_;
        }
        std::ranges::stable_sort(places_, std::less<>{},
                                 [&](std::size_t place) { return key(*all_[place]); });
        ordered_.clear();
        for (const std::size_t place : places_)
            ordered_.push_back(all_[place]);
        holds_ = ordered_;
    }

    void keep_only_elsewhere() {
        places_ = std::exchange(elsewhere_, {});
        holds_ = hold_list{ordered_}.first(places_.size());
    }

    /// Returns the index of the hold in the caller's list.
    std::size_t place_of(std::size_t which) const {
        return places_.empty() ? which : places_[which];
    }

    void fail_all(const boost::system::system_error& why) {
        for (std::size_t i = 0; i < holds_.size(); ++i)
            to_.failed(place_of(i), why);
    }

    static parts split(part refused) {
        const std::size_t each = (refused.count + parts_of_refused - 1) / parts_of_refused;
        parts all;
        for (std::size_t i = 0; i < refused.count; i += each)
            all.push_back({refused.first + i, std::min(each, refused.count - i), refused.at});
        return all;
    }

    /// Renews all parts at the same time. If the parts were renewed one after the other, some
    /// leases might expire before a slow server has replied.
    asio::awaitable<void> renew_all(parts all_parts) {
        if (all_parts.size() == 1) {
            co_await renew(all_parts.front());
            co_return;
        }
        const auto start = [this](part some) {
            return asio::co_spawn(executor_, renew(some), asio::deferred);
        };
        std::vector<decltype(start(part{}))> under_way;
        under_way.reserve(all_parts.size());
        for (const part some : all_parts)
            under_way.push_back(start(some));
        auto all = asio::experimental::make_parallel_group(std::move(under_way));
        // The result has the order in which the parts completed, and the exception of each part.
        auto outcomes =
            co_await all.async_wait(asio::experimental::wait_for_all{}, asio::use_awaitable);
        for (const std::exception_ptr& bug : std::get<1>(outcomes))
            if (bug)
                std::rethrow_exception(bug);
    }

    asio::awaitable<void> renew(part some) {
        std::optional<boost::system::system_error> failed;
        renewed_holds outcome;
        try {
            const hold_list asked = holds_.subspan(some.first, some.count);
            outcome = co_await verbs_of(asked.front()->kind)->renew(server_, some.at, asked, how_);
        } catch (const boost::system::system_error& why) {
            failed = why;
        }
        // A server may check the user's permissions for the names before it checks whether it has
        // these names at all. So after a refusal, ask the other servers for these names.
        if (failed && some.at && is_about_a_name(*failed))
            outcome.each.assign(some.count, standing::elsewhere);
        else if (failed && some.count > 1 && is_about_a_name(*failed))
            co_return co_await renew_all(split(some));
        if (!outcome.unconfirmed.empty())
            failed.emplace(make_error_code(store_errc::not_replicated), outcome.unconfirmed);
        report(some, outcome, failed);
    }

    /// Reports the result of each hold in one part of the list. If the reply says that a hold is
    /// lost, reports the loss and not another error.
    void report(part some, const renewed_holds& outcome,
                const std::optional<boost::system::system_error>& failed) {
        const std::vector<standing>& each = outcome.each;
        for (std::size_t i = 0; i < some.count; ++i) {
            const std::size_t place = place_of(some.first + i);
            if (i < each.size() && each[i] == standing::elsewhere)
                elsewhere_.push_back(place);
            else if (i < each.size() && each[i] == standing::gone)
                to_.renewed(place, answer{});
            else if (failed)
                to_.failed(place, *failed);
            else
                to_.renewed(place, granted(outcome, i));
        }
    }

    answer granted(const renewed_holds& outcome, std::size_t which) const {
        answer said{.granted = true, .term = how_.lease_time};
        if (which < outcome.left_before.size())
            said.left_before = outcome.left_before[which];
        return said;
    }

    node& server_;
    const asio::any_io_executor executor_;
    hold_list holds_;
    const renewal_options& how_;
    renewal_sink& to_;

    // The caller's holds, the same holds sorted by order_by(), and the index of each sorted hold in
    // the caller's list. Used only in a cluster.
    hold_list all_{};
    std::vector<const hold*> ordered_;
    std::vector<std::size_t> places_;
    std::vector<std::size_t> elsewhere_; // indexes of holds whose name is on another server
};

} // namespace

asio::awaitable<void> renew_holds(node& server, asio::any_io_executor executor, hold_list holds,
                                  const renewal_options& how, renewal_sink& to) {
    if (holds.empty())
        co_return;
    renewing all{server, std::move(executor), holds, how, to};
    co_await all.run();
}

} // namespace holdfast::redis
