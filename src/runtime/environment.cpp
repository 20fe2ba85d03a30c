// SPDX-License-Identifier: Apache-2.0
#include <holdfast/credentials.hpp>

#include <cstdlib>

namespace holdfast {

credential_provider credentials_from_environment() {
    const char* const user = std::getenv("HOLDFAST_USERNAME");
    const char* const password = std::getenv("HOLDFAST_PASSWORD");
    if (!user && !password)
        return {};
    return [found = credentials{user ? user : "", password ? password : ""}] { return found; };
}

} // namespace holdfast
