// SPDX-License-Identifier: Apache-2.0
#include "front/blocking.hpp"
#include "front/own_entry.hpp"
#include "front/sides.hpp"
#include "front/wish.hpp"

#include <holdfast/basic_mutex.hpp>

#include <cassert>

namespace holdfast {
namespace {

using front::own_entry;
using sync::thread_table;

/// Locks a lock that this thread already holds.
void enter_again(const sync::subject& lock, const thread_table::entry& mine,
                 const detail::wish& how) {
    if (!mine.hold->believed())
        throw front::worded_error{{make_error_code(errc::lease_lost),
                                   "this thread held the lock and lost it; unlock() it first"}};
    if (mine.hold->kind() != lock.kind)
        throw front::worded_error{{make_error_code(errc::already_held),
                                   "this thread holds the lock of that name as another type"}};
    if (lock.again == recursion::refused)
        throw front::worded_error{{make_error_code(errc::already_held),
                                   "this thread holds the lock, and a mutex is not recursive"}};
    if (lock.replicas > 0 && mine.hold->replicas() < lock.replicas)
        front::confirm(mine.hold, lock.replicas);
    if (how.lease) {
        const duration length = front::wanted_lease(lock, how).value();
        if (mine.hold->remaining() < length)
            front::extend(mine.hold, length);
    } else if (!mine.hold->renewed()) {
        auto renew = [held = mine.hold, length = lock.lease] { held->renew_from_now_on(length); };
        (void)lock.home->reach().post(std::move(renew));
    }
    lock.home->threads()->enter_again(lock.entry(), lock.way());
}

} // namespace

basic_mutex::basic_mutex(client& home, lock_name name, const detail::lock_setup& how)
    : lock_{front::make_subject(home.engine(), name, how)} {}

basic_mutex::basic_mutex(std::shared_ptr<sync::subject> lock)
    : lock_{std::move(lock)} {}

basic_mutex::~basic_mutex() = default;

bool basic_mutex::take(detail::wish how) {
    // Keeps the lock alive: at exit() a waiting thread may outlive this object.
    const std::shared_ptr<sync::subject> lock = lock_;
    const std::shared_ptr<sync::engine>& home = lock->home;
    if (home->forked())
        throw front::worded_error{front::forked()};
    if (home->stopped())
        throw front::worded_error{front::closed()};
    const thread_table::entry mine = own_entry(*lock);
    if (mine.count > 0) {
        enter_again(*lock, mine, how);
        return true;
    }
    front::throw_if(front::objection_to_blocking(*lock));
    lock->refuse_parts_of_this_thread();
    sync::request what = front::request_for(lock, how);
    front::stand_beside_own_hold(what, how.upgrades);
    std::shared_ptr<sync::tenure> held = front::acquire(std::move(what), how.cancel);
    if (!held)
        return false;
    lock->lend_parts(*held);
    home->threads()->add(std::move(held), lock->way());
    return true;
}

void basic_mutex::unlock() noexcept {
    error_code ec;
    unlock(ec);
    if (ec != errc::not_owner)
        return; // the engine reports all other errors
    const event misuse{.kind = event_kind::misuse,
                       .name = lock_->name.text.data(),
                       .name_size = lock_->name.text.size(),
                       .code = static_cast<std::int32_t>(errc::not_owner)};
    auto tell = [lock = lock_, misuse] { lock->home->tell(misuse); };
    (void)lock_->home->reach().post(std::move(tell));
    assert(ec != errc::not_owner && "unlock() of a lock that this thread does not hold");
}

void basic_mutex::unlock(error_code& ec) noexcept {
    const std::shared_ptr<sync::engine>& home = lock_->home;
    if (home->forked()) {
        ec = make_error_code(errc::forked);
        return;
    }
    thread_table::entry before = home->threads()->leave(lock_->entry(), lock_->way());
    if (before.count == 0)
        ec = make_error_code(home->stopped() ? errc::closed : errc::not_owner);
    else if (before.count > 1)
        ec = before.hold->believed() ? error_code{} : make_error_code(errc::lease_lost);
    else {
        lock_->take_back_parts();
        lease{std::move(before.hold)}.unlock(ec);
    }
}

bool basic_mutex::is_held_by_this_thread() const {
    return hold_count() > 0;
}

std::size_t basic_mutex::hold_count() const {
    if (lock_->home->forked())
        return 0;
    const thread_table::entry mine = own_entry(*lock_);
    return mine.count > 0 && mine.hold->believed() ? mine.count : 0;
}

} // namespace holdfast
