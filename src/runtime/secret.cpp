// SPDX-License-Identifier: Apache-2.0
#include "runtime/secret.hpp"

#include <holdfast/secret.hpp>

#include <algorithm>

namespace holdfast {

secret::secret(copied, std::string_view text)
    : bytes_{text.empty() ? nullptr : std::make_unique<char[]>(text.size())}
    , size_{text.size()} {
    std::ranges::copy(text, bytes_.get());
}

secret::~secret() {
    runtime::wipe({bytes_.get(), size_});
}

} // namespace holdfast
