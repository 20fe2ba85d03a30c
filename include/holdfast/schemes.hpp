// SPDX-License-Identifier: Apache-2.0
// Registration of URL schemes for stores outside the core library: for a component such as
// holdfast::mysql, or for a store of your own.
//
//     holdfast::add_store_scheme("etcd", [](holdfast::store_url& url) {
//         etcd::options how;
//         how.servers = url.servers("etcd://127.0.0.1:2379");
//         url.read("namespace", how.name_space);      // etcd://host?namespace=locks
//         url.read("command_timeout", how.command_timeout);
//         url.refuse_unknown();
//         return etcd::make_store(std::move(how));    // a store_factory (store.hpp)
//     });
//     holdfast::client client{"etcd://127.0.0.1?namespace=locks&lease_time=10s"};
#pragma once

#include <holdfast/address.hpp>
#include <holdfast/credentials.hpp>
#include <holdfast/export.hpp>
#include <holdfast/store.hpp>
#include <holdfast/tls.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {

namespace url {
struct parts;
class reading;
} // namespace url

/// The parts of a store's URL. The `scheme_reader` function of the scheme gets this object. Every
/// part is decoded. Errors are thrown as `errc::invalid_argument`; the text names the wrong part
/// and the allowed values.
///
/// The function `refuse_unknown()` accepts only parameters that your function has asked for. So ask
/// for every parameter of your scheme once, even if the URL does not contain it, and then call
/// `refuse_unknown()`. The parameters of the client (`lease_time`, `prefix`, ...) were read before
/// your function is called.
class HOLDFAST_EXPORT store_url {
public:
    explicit store_url(url::reading& inside) noexcept
        : inside_{inside} {}
    store_url(const store_url&) = delete;

    const std::string& scheme() const noexcept; ///< scheme of the URL, in lower case
    const std::string& user() const noexcept;
    const secret& password() const noexcept;
    /// Returns the credentials of the client's options (`options::credentials`).
    const credential_provider& credentials() const noexcept;

    /// Returns the servers of the URL, which are separated by commas. A missing port is 0. Throws
    /// for an empty host or a wrong port; the error text shows `example` as a correct URL.
    std::vector<server_address> servers(std::string_view example) const;
    /// Returns whether the URL names a server. A URL without a server has only slashes before its
    /// path.
    bool names_servers() const noexcept;

    const std::string& path() const noexcept; ///< path of the URL, for example `/a/b`
    /// Returns the parts of the path between '/', for example `a`, `b`. An encoded slash (`%2F`)
    /// does not separate parts.
    const std::vector<std::string>& segments() const noexcept;

    /// Returns the text of a parameter, or nothing if the URL does not have it.
    std::optional<std::string_view> given(std::string_view name);

    // The functions read() store the value of a parameter in `into`. If the URL does not have the
    // parameter, `into` is unchanged.

    void read(std::string_view name, std::string& into);
    void read(std::string_view name, secret& into);
    void read(std::string_view name, bool& into);     ///< `yes`, `no`
    void read(std::string_view name, duration& into); ///< `500ms`, `10s`, `5m`, `1h`
    void read(std::string_view name, std::optional<duration>& into);
    template <std::unsigned_integral Count>
    void read(std::string_view name, Count& into) {
        constexpr std::uint64_t most = std::numeric_limits<Count>::max();
        if (const auto count = count_of(name, most))
            into = static_cast<Count>(*count);
    }

    /// Reads a parameter that must be one of the given words, and stores the value of that word.
    template <typename Value>
    void read_one_of(std::string_view name, Value& into,
                     std::initializer_list<std::pair<std::string_view, Value>> words) {
        std::vector<std::string_view> allowed;
        for (const auto& each : words)
            allowed.push_back(each.first);
        if (const auto which = which_of(name, allowed))
            into = (words.begin() + *which)->second;
    }

    /// Reads `tls=yes` and the TLS parameters of tls.hpp, for example `tls_ca_file`.
    void read_tls(std::optional<tls_options>& into);

    /// Throws if the URL has a parameter that your function has not asked for. The error text
    /// suggests the most similar known parameter.
    void refuse_unknown() const;

    /// Throws an error with the given text. If the text contains a part of the URL, pass that part
    /// through `shown()` first, because the part may belong to a password.
    [[noreturn]] void refuse(std::string_view why) const;
    /// Returns the given text in quotes, for use in an error text. If the given text may be part of
    /// a password, the result gives a reason for hiding it instead.
    std::string shown(std::string_view text) const;

    const url::parts& inside() const noexcept; ///< for the library's own schemes

private:
    std::optional<std::uint64_t> count_of(std::string_view name, std::uint64_t most);
    std::optional<std::size_t> which_of(std::string_view name,
                                        const std::vector<std::string_view>& allowed);

    url::reading& inside_;
};

/// Function that creates the store for a URL; it sends nothing yet. Throws `errc::invalid_argument`
/// for a wrong URL. Several threads may call the function at the same time.
using scheme_reader = std::function<store_factory(store_url&)>;

/// Registers a URL scheme. A scheme consists of letters, digits, `+`, `-` and `.`, and begins with
/// a letter. If the scheme was registered before, the new function replaces the earlier function.
/// Throws `errc::invalid_argument` for a malformed scheme, and for a scheme that the library itself
/// reads. Any thread may call it.
HOLDFAST_EXPORT void add_store_scheme(std::string scheme, scheme_reader);

} // namespace holdfast
