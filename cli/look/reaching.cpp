// SPDX-License-Identifier: Apache-2.0
#include "cli/look/reaching.hpp"

#include <utility>

namespace cli {

holdfast::options reaching(std::string url) {
    holdfast::options how;
    how.url = std::move(url);
    how.credentials = holdfast::credentials_from_environment();
    return how;
}

} // namespace cli
