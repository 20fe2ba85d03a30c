// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sync {

class engine;

/// Reason of a failure: the code and a text for people, from the server if it sent one.
struct failure {
    error_code code;
    std::string text;
};

/// Handler of a release or an extension. It is called once; the code is empty on success.
using release_handler = asio::any_completion_handler<void(failure)>;

/// Interface of a held lock, for leases and threads (`tenure`). Several leases and
/// threads may share a hold: the last of them releases it.
class tenure {
public:
    explicit tenure(std::shared_ptr<engine> of)
        : home{std::move(of)} {}
    tenure(const tenure&) = delete;
    virtual ~tenure() = default;

    const std::shared_ptr<engine> home;

    // Any thread may call these.
    /// Returns the name in the store. The name lives as long as the hold.
    virtual std::string_view name() const noexcept = 0;
    /// Returns the key in the thread table: the name, except for a hold on several locks.
    virtual std::string_view entry() const noexcept { return name(); }
    virtual std::string owner() const = 0;
    virtual lock_kind kind() const noexcept = 0;
    virtual duration remaining() const noexcept = 0; ///< zero: it is no longer valid
    bool believed() const noexcept { return remaining() > duration::zero(); }
    virtual std::stop_token lost() const = 0;
    virtual std::stop_token in_danger() const = 0;
    virtual bool renewed() const noexcept = 0;
    /// Says that the hold must not be passed on within this client: its release goes to the store.
    virtual void stay_with_its_holder() noexcept {}
    /// Returns the number of replicas that have confirmed the hold.
    virtual unsigned replicas() const noexcept = 0;
    virtual std::uint64_t token() const noexcept { return 0; }         ///< fencing token; 0: none
    virtual std::vector<std::string> permit_ids() const { return {}; } ///< empty: none
    /// Returns the clients of its parts, which are asked too, as in subject::homes(). Empty:
    /// only `home`.
    virtual std::vector<const engine*> homes_of_parts() const { return {}; }
    /// Adds a share for another lease or thread. False: the hold has ended.
    virtual bool share() = 0;
    /// Notes that the thread of one share ended without releasing it. From now on no call waits for
    /// that share. `abandon()` follows on the executor.
    virtual void thread_ended() noexcept = 0;
    /// Undoes thread_ended(): the thread releases its share after all, in the destructor of a
    /// static object.
    virtual void thread_came_back() noexcept = 0;

    // Executor only. Requests to the store run on `where`, see engine::spawn().
    /// Asks the store to keep the hold for at least `length` from now.
    virtual void extend(duration length, release_handler) = 0;
    virtual void renew_from_now_on(duration lease) = 0;
    /// Asks the store once to have the hold confirmed by so many replicas, more than before. On
    /// success the hold needs that many from now on.
    virtual void confirm(unsigned replicas, release_handler) = 0;
    virtual void release(release_handler, const asio::any_io_executor& where) = 0;
    virtual void abandon() = 0; ///< called after `thread_ended()`

    /// Returns the hold itself. A pointer that was handed out may stand for one share, which ends
    /// with the last copy of the pointer. A caller that gives its share back must first drop that
    /// pointer.
    virtual std::shared_ptr<tenure> whole() = 0;

    // For deferred releases: no caller waits for them, but they must come before the next request
    // of their thread.
    virtual bool deferred() const noexcept = 0;
    virtual void announce_release() noexcept = 0; ///< says that a release follows; any thread
    /// Releases without waiting for the result. Afterwards `sent_off` tells whether the request is
    /// on its way.
    virtual void release_unwaited(const asio::any_io_executor& where,
                                  const std::function<bool()>& sent_off) = 0;
};

} // namespace holdfast::sync
