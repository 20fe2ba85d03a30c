// SPDX-License-Identifier: Apache-2.0
#include "front/sides.hpp"

#include "sync/thread_table.hpp"
#include "sync/wire_hold.hpp"

namespace holdfast::front {
namespace {

using sync::side;
using sync::wire_hold;
using shared_hold = std::shared_ptr<wire_hold>;

[[noreturn]] void refuse_with(errc code, const char* words) {
    throw worded_error{{make_error_code(code), words}};
}

/// Null: it is a hold of something else that has the same name.
shared_hold as_kind(const std::shared_ptr<sync::tenure>& held, lock_kind kind) {
    shared_hold one = std::dynamic_pointer_cast<wire_hold>(held);
    return one && one->what.kind == kind ? one : nullptr;
}

void must_be_believed(const wire_hold& held) {
    if (!held.believed())
        refuse_with(errc::lease_lost,
                    "the hold that it was to stand beside is lost; unlock it first");
}

shared_hold of_this_thread(const sync::subject& lock, side way, lock_kind kind) {
    return as_kind(lock.home->threads()->find(lock.name.text, way).hold, kind);
}

} // namespace

shared_hold own_hold_beside(const sync::subject& lock, bool upgrades) {
    if (lock.kind != lock_kind::read && lock.kind != lock_kind::write)
        return nullptr;
    const bool reads = lock.kind == lock_kind::read;
    shared_hold other = reads ? of_this_thread(lock, side::alone, lock_kind::write)
                              : of_this_thread(lock, side::shared, lock_kind::read);
    if (!other && upgrades)
        refuse_with(errc::not_owner, "only a thread that holds the lock shared can upgrade");
    if (other)
        must_be_believed(*other);
    if (other && !reads && !upgrades)
        refuse_with(errc::already_held, "this thread holds the lock shared, and would wait for "
                                        "itself: try_upgrade_for(), or unlock_shared() first");
    return other;
}

shared_hold hold_beside(const sync::subject& lock, const std::shared_ptr<sync::tenure>& named) {
    const lock_kind kind = lock.kind == lock_kind::read ? lock_kind::write : lock_kind::read;
    shared_hold held = as_kind(named, kind);
    if (!held || held->home != lock.home || held->what.name != lock.name)
        refuse_with(errc::not_owner, "that lease is none of the other side of this lock");
    must_be_believed(*held);
    return held;
}

} // namespace holdfast::front
