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

/// Why something failed: the code, and words for people (the server's own, where there are any).
struct failure {
    error_code code;
    std::string text;
};

/// Told once how a release or an extension went; an empty code for well.
using release_handler = asio::any_completion_handler<void(failure)>;

/// What a lease stands on, as leases and threads see it. They may share it: whoever lets go of it
/// last releases it.
class tenure {
public:
    explicit tenure(std::shared_ptr<engine> of)
        : home{std::move(of)} {}
    tenure(const tenure&) = delete;
    virtual ~tenure() = default;

    const std::shared_ptr<engine> home;

    // Any thread.
    virtual std::string_view name() const noexcept = 0; ///< as the store sees it; lives as long
    /// Under which a thread has it: the name, unless it is made of several.
    virtual std::string_view entry() const noexcept { return name(); }
    virtual std::string owner() const = 0;
    virtual lock_kind kind() const noexcept = 0;
    virtual duration remaining() const noexcept = 0; ///< zero: it is not believed
    bool believed() const noexcept { return remaining() > duration::zero(); }
    virtual std::stop_token lost() const = 0;
    virtual std::stop_token in_danger() const = 0;
    virtual bool renewed() const noexcept = 0;
    /// Makes its release go to the store: it is not handed on within its client.
    virtual void stay_with_its_holder() noexcept {}
    virtual unsigned replicas() const noexcept = 0;            ///< so many have confirmed it
    virtual std::uint64_t token() const noexcept { return 0; } ///< for fencing; 0: it has none
    virtual std::vector<std::string> permit_ids() const { return {}; } ///< empty: it has none
    /// The clients of its parts, which are asked with it: as subject::homes(). Empty: `home` alone.
    virtual std::vector<const engine*> homes_of_parts() const { return {}; }
    /// One more lease or thread shares it. False if it is no longer held.
    virtual bool share() = 0;
    /// The thread of one share ended without releasing it. The share keeps nobody waiting from now
    /// on, and `abandon()` follows on the executor.
    virtual void thread_ended() noexcept = 0;
    /// That thread releases its share after all: it has objects that are destroyed even later.
    virtual void thread_came_back() noexcept = 0;

    // The executor only; what is asked of the store is asked on `where`, see engine::spawn().
    virtual void extend(duration length, release_handler) = 0; ///< at least so long from now on
    virtual void renew_from_now_on(duration lease) = 0;
    /// Asks the store once, and so many replicas, more than before, must confirm it. Then that is
    /// its number from now on.
    virtual void confirm(unsigned replicas, release_handler) = 0;
    virtual void release(release_handler, const asio::any_io_executor& where) = 0;
    virtual void abandon() = 0; ///< after `thread_ended()`

    /// Itself. A pointer that was handed out may stand for one share of it, which is let go of with
    /// the last copy: who gives the share back lets go of it first.
    virtual std::shared_ptr<tenure> whole() = 0;

    // Where nobody waits for the release, which must still come before what its thread asks next.
    virtual bool deferred() const noexcept = 0;
    virtual void announce_release() noexcept = 0; ///< it follows; any thread
    /// `sent_off` tells, behind it, whether the request is on its way.
    virtual void release_unwaited(const asio::any_io_executor& where,
                                  const std::function<bool()>& sent_off) = 0;
};

} // namespace holdfast::sync
