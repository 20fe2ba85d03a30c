// SPDX-License-Identifier: Apache-2.0
#include "net/tls_context.hpp"

#include "net/failure.hpp"

#include <utility>

namespace holdfast::net {
namespace {

/// What is below names the code alone.
auto with_our_codes(auto&& ask) {
    try {
        return ask();
    } catch (const tls_trouble& why) {
        throw why.code ? failure{*why.code, why.text} : failure{errc::unreachable, why.text};
    }
}

std::string without_final_dot(std::string name) {
    if (name.ends_with('.'))
        name.pop_back();
    return name;
}

} // namespace

tls_context::tls_context(const tls_options& how, const std::string& host)
    : engine_{with_our_codes([&] {
        return make_tls_engine(how,
                               without_final_dot(how.server_name.empty() ? host : how.server_name));
    })} {}

std::unique_ptr<tls_session> tls_context::begin() {
    return with_our_codes([&] { return std::make_unique<tls_session>(engine_->begin()); });
}

void check_files(const tls_options& how) {
    with_our_codes([&] { make_tls_engine(how, {})->check_files(); });
}

bool tls_session::is_tls(std::string_view first_bytes) {
    // The types of a record, from change_cipher_spec to application_data (RFC 8446, section 5.1).
    constexpr unsigned char first_type = 20;
    constexpr unsigned char last_type = 23;
    const auto type = static_cast<unsigned char>(first_bytes.empty() ? '\0' : first_bytes.front());
    return type >= first_type && type <= last_type;
}

std::string_view tls_session::open(std::string_view received) {
    if (!received.empty() && !std::exchange(heard_, true) && !is_tls(received))
        throw failure{store_errc::tls_failed,
                      "what answers there does not speak TLS; without it, it is redis://"};
    return with_our_codes([&] { return talk_->open(received); });
}

} // namespace holdfast::net
