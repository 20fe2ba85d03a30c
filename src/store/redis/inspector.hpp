// SPDX-License-Identifier: Apache-2.0
// Inspection of locks for operators: finds lock names, describes locks, and ends holds by force.
#pragma once

#include "redis/client/resp.hpp"
#include "redis/node.hpp"
#include "store/redis/client_info.hpp"
#include "store/redis/lock_requests.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

struct found_names {
    std::vector<std::string> names;         ///< sorted, without duplicates
    bool complete = true;                   ///< false: `limit` or the step limit was reached
    std::vector<std::string> unreachable{}; ///< servers that could not be asked, with the reason
};

// These functions search in small steps (SCAN, never KEYS), so that they do not delay other
// requests. They stop after a few million keys.

/// Returns the keys that match a glob pattern and look like locks.
asio::awaitable<found_names> find_locks(node&, std::string pattern, std::size_t limit);

/// Returns the keys that match a glob pattern and may be counters of the given kind.
asio::awaitable<found_names> find_counters(node&, counter_kind, std::string pattern,
                                           std::size_t limit);

/// Maximum number of lock names in one script. The script then keeps the server busy no longer than
/// a renewal of the same number of holds.
inline constexpr std::size_t described_at_once_max = 100;

/// Returns the state of each lock in `names` that exists. A state also describes the clients that
/// hold the lock.
asio::awaitable<std::vector<lock_state>> describe_locks(node&, std::vector<std::string> names);

/// Maximum number of waiters in `lock_state::waiters` that only their clients report.
inline constexpr std::size_t reported_waiters_max = 100;

/// Completes the states of the locks by the holds and waits that clients have reported.
void add_activity(std::span<lock_state> locks, const std::vector<seen_client>&);

/// Returns the lock state in a reply of the server. The result is empty if the reply says that the
/// key does not exist any more.
std::optional<lock_state> lock_state_in(std::string name, const reply& told);

/// Reads holds of locks and ends them. The holds may come from Redisson or from holdfast.
class lock_inspector final : public inspector {
public:
    /// Both arguments must outlive this object.
    lock_inspector(node& server, const store_context& context)
        : server_{server}
        , context_{context} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<forced> force_release(lock_name, std::string only_from) override;
    asio::awaitable<std::uint64_t> last_token(lock_name) override;
    asio::awaitable<forced> force_kind(lock_name, lock_kind) override;
    asio::awaitable<std::optional<lock_state>> describe(lock_name) override;
    asio::awaitable<void> add_reports(std::span<lock_state>) override;
    asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) override;
    bool lists_active() const noexcept override { return true; }
    asio::awaitable<lock_list> list_active(active_query) override;
    asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) override;

private:
    /// Ends a lock. If `mode` is not empty, ends the lock only if `mode` is the lock's kind.
    asio::awaitable<forced> force(lock_name, std::string only_from, std::string_view mode);
    asio::awaitable<attempt> force_by(server_deadline, const lock_name&,
                                      const std::string& only_from, std::string_view mode,
                                      forced& outcome);

    node& server_;
    const store_context& context_;
};

} // namespace holdfast::redis
