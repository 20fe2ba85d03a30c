// SPDX-License-Identifier: Apache-2.0
#include "store/remote/card_of.hpp"

#include "runtime/self.hpp"
#include "runtime/wall_clock.hpp"

#include <cstddef>
#include <utility>

namespace holdfast::remote {
namespace {

/// Maximum length of the label in bytes. The label is sent often, and only humans read it.
constexpr std::size_t label_bytes_max = 256;

} // namespace

client_card card_of(const store_context& context) {
    runtime::self here = runtime::this_process();
    return {std::move(here.host), here.pid, std::move(here.program),
            context.label.substr(0, label_bytes_max),
            std::chrono::floor<std::chrono::seconds>(runtime::wall_clock_time())};
}

} // namespace holdfast::remote
