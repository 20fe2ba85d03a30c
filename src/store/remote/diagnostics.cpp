// SPDX-License-Identifier: Apache-2.0
#include "store/remote/diagnostics.hpp"

#include "runtime/process.hpp"
#include "runtime/remote_clock.hpp"

#include <cstddef>
#include <utility>

namespace holdfast::remote {
namespace {

/// Maximum length of the client's label, in bytes. The label is sent often, and only people read
/// it.
constexpr std::size_t label_bytes_max = 256;

} // namespace

client_info client_info_of(const store_context& context) {
    runtime::self here = runtime::this_process();
    return {std::move(here.host), here.pid, std::move(here.program),
            context.label.substr(0, label_bytes_max),
            std::chrono::floor<std::chrono::seconds>(runtime::wall_clock_time())};
}

namespace {

/// Largest difference between two clocks that the doctor does not report. Locks work with any
/// difference. But a large difference confuses people who compare logs, and affects Redisson's fair
/// locks, which use the client's clock.
constexpr std::chrono::microseconds clocks_agree = std::chrono::seconds{1};

/// A reply is slow if it takes more than 1/10 of the lease. Two thirds of the lease remain for a
/// renewal, which may need several attempts.
constexpr int slow_part_of_lease = 10;

} // namespace

finding judge_delay(duration took, duration lease_time) {
    const bool slow = took * slow_part_of_lease > lease_time;
    return {slow ? severity::warning : severity::fine, "reach",
            "The server replied within " + std::to_string(took.count()) + " ms.",
            slow ? "A lease time of " + std::to_string(lease_time.count()) +
                       " ms is short for such slow replies. Use a longer lease_time."
                 : ""};
}

finding judge_clock(std::chrono::microseconds shown) {
    const auto apart = shown - runtime::wall_clock_time();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(apart).count();
    if (apart > clocks_agree || apart < -clocks_agree)
        return {severity::note, "clock",
                "The clock of the server is " + std::to_string(seconds < 0 ? -seconds : seconds) +
                    (seconds < 0 ? " s behind" : " s ahead of") + " the clock of this machine.",
                "Locks work with any difference. But let NTP correct both clocks slowly, and never "
                "set the clock of the server by a step."};
    return {severity::fine, "clock",
            "The clock of the server agrees with the clock of this machine."};
}

finding trial_lock_is_held(const lock_name& name) {
    return {severity::note, "rights",
            "Another client holds the lock '" + name.text +
                "', so the doctor could not take this lock.",
            "Run the doctor with another name: holdfast doctor NAME"};
}

finding trial_lock_was_lost(std::string remedy) {
    return {severity::warning, "rights",
            "The doctor took a lock, but the lock was gone before the renewal. Other locks can be "
            "lost in the same way.",
            std::move(remedy)};
}

finding trial_went_well(const lock_name& name) {
    return {severity::fine, "rights",
            "The doctor took, renewed and released the lock '" + name.text + "'."};
}

} // namespace holdfast::remote
