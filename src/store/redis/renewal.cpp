// SPDX-License-Identifier: Apache-2.0
#include "store/redis/renewal.hpp"

#include "redis/mutants.hpp"
#include "store/redis/kinds.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

/// Names in one script: it stalls the server for no longer than a few lock requests do, and is
/// what Redisson sends.
constexpr std::size_t batch_max = 100;

/// A refused batch is asked about again in so many parts, and those likewise: the names that were
/// refused are found with few requests, and in few round trips.
constexpr std::size_t parts_of_refused = 10;

/// Whether one script may renew both: it names the client once, and each hold by its number alone;
/// and what it writes is confirmed as a whole.
bool go_together(const hold& one, const hold& other) {
    return one.owner.client == other.owner.client && one.replicas == other.replicas &&
           verbs_of(one.kind)->renew == verbs_of(other.kind)->renew;
}

hold_list first_batch(hold_list holds) {
    std::size_t size = 1;
    while (size < std::min(holds.size(), batch_max) && go_together(*holds.front(), *holds[size]))
        ++size;
    return holds.first(size);
}

/// Whether a refusal may be about one of the names alone: the user may not touch it, or it lives
/// elsewhere ("non local key"). Others are about the server or its user, and would be repeated.
bool is_about_a_name(const boost::system::system_error& why) {
    if (planted(mutant::refusal_takes_all))
        return false;
    return why.code() == store_errc::no_permission || why.code() == store_errc::other ||
           why.code() == store_errc::wrong_type || planted(mutant::refusal_pursued);
}

/// One call's renewal: what all its requests have in common.
class renewing {
public:
    renewing(node& server, asio::any_io_executor executor, hold_list holds,
             const renewal_wishes& how, renewal_sink& to)
        : server_{server}
        , executor_{std::move(executor)}
        , holds_{holds}
        , how_{how}
        , to_{to} {}

    asio::awaitable<void> run() {
        std::vector<part> all;
        for (std::size_t first = 0; first < holds_.size(); first += all.back().count)
            all.push_back({first, first_batch(holds_.subspan(first)).size()});
        co_await renew_all(std::move(all));
    }

private:
    /// Some that follow each other in the list.
    struct part {
        std::size_t first, count;
    };

    static std::vector<part> split(part refused) {
        const std::size_t each = (refused.count + parts_of_refused - 1) / parts_of_refused;
        std::vector<part> parts;
        for (std::size_t i = 0; i < refused.count; i += each)
            parts.push_back({refused.first + i, std::min(each, refused.count - i)});
        return parts;
    }

    /// All at once: one behind the other, a slow connection could let the last ones run out.
    asio::awaitable<void> renew_all(std::vector<part> parts) {
        if (parts.size() == 1) {
            co_await renew(parts.front());
            co_return;
        }
        const auto start = [this](part some) {
            return asio::co_spawn(executor_, renew(some), asio::deferred);
        };
        std::vector<decltype(start(part{}))> under_way;
        under_way.reserve(parts.size());
        for (const part some : parts)
            under_way.push_back(start(some));
        auto all = asio::experimental::make_parallel_group(std::move(under_way));
        // In the order of the parts: who ended first, and what they threw.
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
            outcome = co_await verbs_of(asked.front()->kind)->renew(server_, asked, how_);
        } catch (const boost::system::system_error& why) {
            failed = why;
        }
        if (failed && some.count > 1 && is_about_a_name(*failed)) {
            co_await renew_all(split(some));
            co_return;
        }
        if (!outcome.unconfirmed.empty() && !planted(mutant::renewal_unconfirmed))
            failed.emplace(make_error_code(store_errc::not_replicated), outcome.unconfirmed);
        report(some, outcome.held, failed);
    }

    /// What is not held any more is known, whatever failed beside that.
    void report(part some, const std::vector<bool>& held,
                const std::optional<boost::system::system_error>& failed) {
        for (std::size_t i = 0; i < some.count; ++i) {
            const std::size_t which = some.first + i;
            const bool is_gone = i < held.size() && !held[i];
            if (is_gone)
                to_.renewed(which, answer{});
            else if (failed)
                to_.failed(which, *failed);
            else
                to_.renewed(which, answer{.granted = true, .term = how_.lease_time});
        }
    }

    node& server_;
    const asio::any_io_executor executor_;
    const hold_list holds_;
    const renewal_wishes& how_;
    renewal_sink& to_;
};

} // namespace

asio::awaitable<void> renew_holds(node& server, asio::any_io_executor executor, hold_list holds,
                                  const renewal_wishes& how, renewal_sink& to) {
    if (holds.empty())
        co_return;
    renewing all{server, std::move(executor), holds, how, to};
    co_await all.run();
}

} // namespace holdfast::redis
