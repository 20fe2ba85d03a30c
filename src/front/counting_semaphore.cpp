// SPDX-License-Identifier: Apache-2.0
#include "validation.hpp"

#include <holdfast/counting_semaphore.hpp>

#include <cstdlib>

namespace holdfast {

counting_semaphore::counting_semaphore(client& home, lock_name name, semaphore_options how)
    : basic_counter{
          home, std::move(name), {counter_kind::semaphore, how.most, how.required_replicas}} {}

void counting_semaphore::release(std::int64_t permits) {
    (void)change(counter_verb::add, permits);
}

bool counting_semaphore::release_if_exists(std::int64_t permits) {
    return change(counter_verb::add_if_there, permits).done;
}

bool counting_semaphore::try_set_permits(std::int64_t permits) {
    return change(counter_verb::set_new, permits).done;
}

bool counting_semaphore::try_set_permits(std::int64_t permits, duration kept) {
    return change(counter_verb::set_new, permits, kept).done;
}

void counting_semaphore::add_permits(std::int64_t permits) {
    checked_amount(permits, -max(), max(), "the number of permits");
    (void)change(permits < 0 ? counter_verb::take_back : counter_verb::add, std::abs(permits));
}

std::int64_t counting_semaphore::drain_permits() {
    return change(counter_verb::drain).value;
}

} // namespace holdfast
