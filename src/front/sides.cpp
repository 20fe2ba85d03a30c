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

/// Returns the hold that a share belongs to. Null: the hold is of another kind.
shared_hold as_kind(const std::shared_ptr<sync::tenure>& share, lock_kind kind) {
    shared_hold one = share ? std::dynamic_pointer_cast<wire_hold>(share->whole()) : shared_hold{};
    return one && one->what.kind == kind ? one : nullptr;
}

void stand(sync::request& wanted, shared_hold held, const std::shared_ptr<sync::tenure>& share) {
    if (!held->believed())
        refuse_with(errc::lease_lost,
                    "the hold that it was to stand beside is lost; unlock it first");
    wanted.under = std::move(held);
    wanted.share = share;
}

} // namespace

void stand_beside_own_hold(sync::request& wanted, bool upgrades) {
    const sync::subject& lock = *wanted.of;
    if (lock.kind != lock_kind::read && lock.kind != lock_kind::write)
        return;
    const bool reads = lock.kind == lock_kind::read;
    const side other = reads ? side::alone : side::shared;
    const sync::thread_table::entry has = lock.home->threads()->find(lock.name.text, other);
    if (has.lent)
        refuse_with(errc::already_held, "this thread holds the lock as a part of several");
    const std::shared_ptr<sync::tenure>& share = has.hold;
    shared_hold held = as_kind(share, reads ? lock_kind::write : lock_kind::read);
    if (!held && upgrades)
        refuse_with(errc::not_owner, "only a thread that holds the lock shared can upgrade");
    if (!held)
        return;
    stand(wanted, std::move(held), share);
    if (!reads && !upgrades)
        refuse_with(errc::already_held, "this thread holds the lock shared, and would wait for "
                                        "itself: try_upgrade_for(), or unlock_shared() first");
}

void stand_beside(sync::request& wanted, const std::shared_ptr<sync::tenure>& named) {
    const sync::subject& lock = *wanted.of;
    const bool reads = lock.kind == lock_kind::read;
    shared_hold held = as_kind(named, reads ? lock_kind::write : lock_kind::read);
    if (!held || held->home != lock.home || held->what.name != lock.name)
        refuse_with(errc::not_owner, "that lease is none of the other side of this lock");
    stand(wanted, std::move(held), named);
}

} // namespace holdfast::front
