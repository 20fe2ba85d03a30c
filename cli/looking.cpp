// SPDX-License-Identifier: Apache-2.0
#include "cli/looking.hpp"

#include "cli/say.hpp"

namespace cli {

void require_name(const look_options& given, std::string_view verb) {
    if (given.name.empty())
        throw usage_error{"which lock? Its NAME is missing; see 'holdfast " + std::string{verb} +
                          " --help'"};
}

} // namespace cli
