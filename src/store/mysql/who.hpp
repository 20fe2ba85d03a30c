// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/inspection.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Who this client is, as the column `info` has it: host, process, program, label and the second
/// when it was made, with tabs between them; 255 bytes at most.
std::string written(const client_card&);
std::optional<client_card> card_in(std::string_view info);

/// Whether that is the owner of a holdfast client: its UUID has our mark.
bool is_ours(std::string_view owner);

} // namespace holdfast::mysql
