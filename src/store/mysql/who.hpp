// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/inspection.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Returns this client's description for the column `info`. It contains host, process, program,
/// label, and creation time in seconds, separated by tabs. It has at most 255 bytes.
std::string written(const client_card&);
std::optional<client_card> card_in(std::string_view info);

/// Returns whether the owner is a holdfast client. The UUID of a holdfast client contains a mark.
bool is_ours(std::string_view owner);

} // namespace holdfast::mysql
