// SPDX-License-Identifier: Apache-2.0
// Waiter that polls for a lock of ShedLock.
#include "bench/contenders/relay.hpp"
#include "bench/database/contenders.hpp"
#include "bench/database/database.hpp"
#include "bench/database/patient_shed_lock.hpp"

namespace holdfast::bench {
namespace {

class shed_lock_relay final : public relay {
public:
    explicit shed_lock_relay(const arena& where)
        : relay{a_while}
        , held_{database_of(*where.group), name_of_lock(0), "one"}
        , wanted_{database_of(*where.group), name_of_lock(0), "another"} {}

private:
    void hold_back() override { held_.lock(); }
    void wait() override { lock_patiently(wanted_); }
    void give_back() override { wanted_.unlock(); }
    void let_go_on() override { held_.unlock(); }

    shed_lock held_, wanted_;
};

} // namespace

made shed_lock_wake_up(const arena& where) {
    return std::make_unique<shed_lock_relay>(where);
}

} // namespace holdfast::bench
