// SPDX-License-Identifier: Apache-2.0
#include "cli/server/chosen_server.hpp"

#include "cli/server/private_server.hpp"
#include "cli/terminal/say.hpp"

#include <cstdlib>
#include <string_view>

namespace cli {
namespace {

/// A job for the whole cluster must not run once on each machine because a variable was forgotten.
/// An environment is the place for it: a deployment sets it once for all jobs.
bool shared_server_is_required() {
    const char* const told = std::getenv("HOLDFAST_REQUIRE_SERVER");
    if (told == nullptr)
        return false;
    const std::string_view value{told};
    if (value != "0" && value != "1")
        throw usage_error{"HOLDFAST_REQUIRE_SERVER: '" + printable(value) +
                          "' is neither 1 (refuse to use the private server) nor 0"};
    return value == "1";
}

/// Nothing: nobody has given one.
std::optional<std::string> given_url(const std::optional<std::string>& option) {
    if (option && option->empty())
        throw usage_error{"--url is empty; give redis://HOST:PORT or unix:///PATH"};
    if (option)
        return option;
    const char* const environment = std::getenv("HOLDFAST_URL");
    if (environment == nullptr)
        return std::nullopt;
    if (*environment == '\0')
        throw usage_error{"HOLDFAST_URL is set, but empty; give redis://HOST:PORT or unix:///PATH, "
                          "or unset it to use this machine's private server"};
    return environment;
}

} // namespace

std::string server_url(const std::optional<std::string>& option) {
    const bool required = shared_server_is_required();
    const std::optional<std::string> given = given_url(option);
    if (!given && required)
        throw usage_error{"no server is given, and HOLDFAST_REQUIRE_SERVER=1 forbids this "
                          "machine's private server; give redis://HOST:PORT or unix:///PATH as "
                          "--url or HOLDFAST_URL"};
    if (!given)
        return use_private_server();
    if (given->starts_with("memory:"))
        throw usage_error{"a memory: store lives inside one process, so its locks keep nobody out; "
                          "give the URL of a server"};
    return *given;
}

bool is_private_server(const std::string& url) {
    return url == private_server_url();
}

std::string without_password(std::string url) {
    const std::size_t scheme_end = url.find("://");
    if (scheme_end == std::string::npos)
        return url;
    const std::size_t start = scheme_end + 3;
    const std::size_t at = url.substr(0, url.find_first_of("/?", start)).rfind('@');
    const std::size_t colon = url.find(':', start);
    if (at != std::string::npos && at > start && colon < at)
        url.replace(colon + 1, at - colon - 1, "***");
    return url;
}

std::string server_in_words(const std::string& url) {
    return is_private_server(url) ? "this machine's private server"
                                  : printable(without_password(url));
}

} // namespace cli
