// SPDX-License-Identifier: Apache-2.0
// Schemes of URLs beside those that the core knows: how a component, or a store of your own, gets a
// URL.
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

/// The URL of a store, as the reader of its scheme gets it. Every part is decoded. What is wrong is
/// thrown as `errc::invalid_argument`, in words that name the part and what is allowed there.
///
/// A parameter is known because a reader asks for it, whether the URL has it or not. So ask for all
/// that the scheme has, each once, and then call `refuse_unknown()`. Those of the client
/// (`lease_time`, `prefix`, ...) have been read before.
class HOLDFAST_EXPORT store_url {
public:
    explicit store_url(url::reading& inside) noexcept
        : inside_{inside} {}
    store_url(const store_url&) = delete;

    const std::string& scheme() const noexcept; ///< in lower case
    const std::string& user() const noexcept;
    const secret& password() const noexcept;
    const credential_provider& credentials() const noexcept; ///< `options::credentials`

    /// One or more, separated by commas. Refuses a host that is empty and a port that is none, and
    /// shows what such a URL looks like. A port that is left out is 0.
    std::vector<server_address> servers(std::string_view example) const;
    bool names_servers() const noexcept; ///< false: nothing but slashes stands before the path

    const std::string& path() const noexcept; ///< as in `/a/b`
    /// What the '/' of the path separate, as in `a`, `b`; an encoded one (`%2F`) separates nothing.
    const std::vector<std::string>& segments() const noexcept;

    /// The text of a parameter. Nothing: it is not there.
    std::optional<std::string_view> given(std::string_view name);

    // If the parameter is there, its value; else the field stays as it is.

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

    /// One of some words, each of which stands for a value.
    template <typename Value>
    void read_one_of(std::string_view name, Value& into,
                     std::initializer_list<std::pair<std::string_view, Value>> words) {
        std::vector<std::string_view> allowed;
        for (const auto& each : words)
            allowed.push_back(each.first);
        if (const auto which = which_of(name, allowed))
            into = (words.begin() + *which)->second;
    }

    /// `tls=yes`, and what belongs to it: `tls_ca_file` and the others of tls.hpp.
    void read_tls(std::optional<tls_options>& into);

    /// Refuses the first parameter that nobody has asked for, with the nearest name that is known.
    void refuse_unknown() const;

    /// Throws with these words; they must show nothing of the URL but what `shown()` returned.
    [[noreturn]] void refuse(std::string_view why) const;
    /// The text in quotes; or why it is not shown, if it could be a piece of a password.
    std::string shown(std::string_view text) const;

    const url::parts& inside() const noexcept; ///< for the library's own schemes

private:
    std::optional<std::uint64_t> count_of(std::string_view name, std::uint64_t most);
    std::optional<std::size_t> which_of(std::string_view name,
                                        const std::vector<std::string_view>& allowed);

    url::reading& inside_;
};

/// Makes the store that a URL names; nothing is sent yet. Throws `errc::invalid_argument`. It may
/// be called by any thread, by several at once too.
using scheme_reader = std::function<store_factory(store_url&)>;

/// From now on URLs may begin with that scheme: letters, digits, `+`, `-` and `.`, the first a
/// letter. A scheme that was added before gets this reader from now on. Throws
/// `errc::invalid_argument` if it is none, or one that the core knows. Any thread.
HOLDFAST_EXPORT void add_store_scheme(std::string scheme, scheme_reader);

} // namespace holdfast
