// SPDX-License-Identifier: Apache-2.0
#include <holdfast/latch.hpp>

namespace holdfast {

latch::latch(client& home, lock_name name, latch_options how)
    : basic_counter{home,
                    std::move(name),
                    {.kind = counter_kind::latch, .replicas = how.required_replicas}} {}

bool latch::try_set_count(std::int64_t count) {
    return change(counter_verb::set_new, count).done;
}

void latch::count_down(std::int64_t by) {
    (void)change(counter_verb::count_down, by);
}

} // namespace holdfast
