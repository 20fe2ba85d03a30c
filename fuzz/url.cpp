// SPDX-License-Identifier: Apache-2.0
// Any text as a URL: options, or a refusal in words that never show the password.
#include "config/url.hpp"

#include "config/validation.hpp"
#include "input.hpp"

#include <holdfast/error.hpp>

#include <string>

namespace {

constexpr std::string_view secret = "s3cr3t-";

/// Says nothing of what a server is asked for: nothing is sent here.
void check(std::string url, std::string_view hidden) {
    using namespace holdfast;
    options how;
    how.url = std::move(url);
    try {
        check(resolve_url(std::move(how)));
    } catch (const boost::system::system_error& e) {
        fuzz::require(e.code() == errc::invalid_argument, "refused with another code");
        const std::string words = e.what();
        fuzz::require(hidden.empty() || words.find(hidden) == words.npos, "a password is shown");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    holdfast::fuzz::input all{data, size};
    const std::size_t form = all.choice(8);
    const std::string text{all.rest()};
    // The same word elsewhere is no password, and may be shown.
    const std::string_view hidden = text.find(secret) == text.npos ? secret : std::string_view{};
    if (form == 0)
        check(text, {});
    else if (form == 1) // a password in its place, whatever stands around it
        check("redis://u:" + std::string{secret} + text + "@h/0", hidden);
    else if (form == 2)
        check("redis://u:" + std::string{secret} + "@" + text, hidden);
    else if (form == 3) // among several hosts
        check("redis+sentinel://u:" + std::string{secret} + text + "@h,i/s", hidden);
    else if (form == 4)
        check("redis+sentinel://h,i/s?sentinel_password=" + std::string{secret} + text, hidden);
    else if (form == 5) // as another client writes it
        check("redis-sentinel://:" + std::string{secret} + "@" + text, hidden);
    else if (form == 6) // a store whose TLS is a parameter
        check("zk://u:" + std::string{secret} + text + "@h,i/c?tls=no", hidden);
    else // of a component that is not here
        check("mysql://u:" + std::string{secret} + "@h/s?" + text, hidden);
    return 0;
}
