// SPDX-License-Identifier: Apache-2.0
#include "url/tls_files.hpp"

#include <utility>

namespace holdfast::url {
namespace {

constexpr std::pair<std::string_view, std::string tls_options::*> files[] = {
    {"tls_ca_file", &tls_options::ca_file},
    {"tls_certificate_file", &tls_options::certificate_file},
    {"tls_key_file", &tls_options::key_file},
    {"tls_server_name", &tls_options::server_name},
};
constexpr std::string_view unsafe = "tls_insecure_skip_verification";

/// Returns the TLS options. Throws if the URL does not use TLS, so that a TLS parameter is never
/// silently ignored.
tls_options& needed(const store_url& url, std::optional<tls_options>& tls, std::string_view name,
                    std::string_view without) {
    if (!tls)
        url.refuse(std::string{name} + ' ' + std::string{without});
    return *tls;
}

} // namespace

void read_tls_files(store_url& url, std::optional<tls_options>& into, std::string_view without) {
    for (const auto& [name, field] : files)
        if (const auto text = url.given(name))
            needed(url, into, name, without).*field = *text;
    const auto text = url.given(unsafe);
    if (text && *text != "yes")
        url.refuse(std::string{unsafe} + " " + url.shown(*text) + " is neither yes nor left out");
    if (text)
        needed(url, into, unsafe, without).insecure_skip_verification = true;
}

} // namespace holdfast::url
