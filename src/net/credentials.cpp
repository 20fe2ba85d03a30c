// SPDX-License-Identifier: Apache-2.0
#include "net/credentials.hpp"

#include "net/failure.hpp"

#include <exception>

namespace holdfast::net {
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

credentials credentials_now(const credentials& fixed, const credential_provider& provider) {
    credentials found = provider ? ask(provider) : credentials{};
    if (!fixed.user.empty())
        found.user = fixed.user;
    if (!fixed.password.empty())
        found.password = fixed.password;
    return found;
}

} // namespace holdfast::net
