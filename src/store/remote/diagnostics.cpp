// SPDX-License-Identifier: Apache-2.0
#include "store/remote/diagnostics.hpp"

#include "runtime/process.hpp"
#include "runtime/remote_clock.hpp"

#include <cstddef>
#include <utility>

namespace holdfast::remote {
namespace {

/// Maximum length of the client's label in bytes. The label is sent often, and only humans read it.
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
/// difference. But a difference confuses people who compare logs, and it affects Redisson's fair
/// locks, which use the client's clock.
constexpr std::chrono::microseconds clocks_agree = std::chrono::seconds{1};

/// A reply that takes more than this fraction of the lease (1/10) is reported as slow. A renewal
/// has two thirds of the lease for all its attempts, and may need several attempts.
constexpr int slow_part_of_lease = 10;

} // namespace

finding judge_delay(duration took, duration lease_time) {
    const bool slow = took * slow_part_of_lease > lease_time;
    return {slow ? severity::warning : severity::fine, "reach",
            "it answers within " + std::to_string(took.count()) + " ms",
            slow ? "A lease of " + std::to_string(lease_time.count()) +
                       " ms is short for that way: give a longer lease_time."
                 : ""};
}

finding judge_clock(std::chrono::microseconds shown) {
    const auto apart = shown - runtime::wall_clock_time();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(apart).count();
    if (apart > clocks_agree || apart < -clocks_agree)
        return {severity::note, "clock",
                "its clock is " + std::to_string(seconds) + " s from this machine's",
                "Locks do not mind. Let NTP slew both, and never step the server's."};
    return {severity::fine, "clock", "its clock agrees with this machine's"};
}

finding trial_lock_is_held(const lock_name& name) {
    return {severity::note, "rights", "'" + name.text + "' is held by somebody else",
            "Ask again, with another name."};
}

finding trial_lock_was_lost(std::string remedy) {
    return {severity::warning, "rights",
            "the lock that was taken was gone when it was to be renewed", std::move(remedy)};
}

finding trial_went_well(const lock_name& name) {
    return {severity::fine, "rights",
            "a lock was taken, renewed and released ('" + name.text + "')"};
}

} // namespace holdfast::remote
