// SPDX-License-Identifier: Apache-2.0
#include "redis/credentials.hpp"

#include "redis/failure.hpp"

#include <exception>

namespace holdfast::redis {
namespace {

credentials ask(const credential_provider& provider) {
    try {
        return provider();
    } catch (const std::exception& why) {
        throw failure{errc::unreachable,
                      std::string{"the credential provider failed: "} + why.what()};
    }
}

} // namespace

credentials credentials_now(const options& how) {
    credentials found = how.credentials ? ask(how.credentials) : credentials{};
    if (!how.user.empty())
        found.user = how.user;
    if (!how.password.empty())
        found.password = how.password;
    return found;
}

} // namespace holdfast::redis
