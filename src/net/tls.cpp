// SPDX-License-Identifier: Apache-2.0
#include "net/tls.hpp"

#include "net/failure.hpp"

#include <utility>

namespace holdfast::net {
namespace {

void throw_if(const maybe_trouble& why) {
    if (why)
        throw why->code ? failure{*why->code, why->text} : failure{errc::unreachable, why->text};
}

std::unique_ptr<tls_engine> engine_for(const tls_options& how, const std::string& server_name) {
    std::unique_ptr<tls_engine> made;
    throw_if(make_tls_engine(how, server_name, made));
    return made;
}

std::string without_final_dot(std::string name) {
    if (name.ends_with('.'))
        name.pop_back();
    return name;
}

} // namespace

tls_context::tls_context(const tls_options& how, const std::string& host)
    : engine_{
          engine_for(how, without_final_dot(how.server_name.empty() ? host : how.server_name))} {}

std::unique_ptr<tls_session> tls_context::begin() {
    std::unique_ptr<tls_talk> begun;
    throw_if(engine_->begin(begun));
    return std::make_unique<tls_session>(std::move(begun));
}

void check_files(const tls_options& how) {
    throw_if(engine_for(how, {})->check_files());
}

bool tls_session::is_tls(std::string_view first_bytes) {
    // Types of a TLS record, from change_cipher_spec to application_data (RFC 8446, section 5.1).
    constexpr unsigned char first_type = 20;
    constexpr unsigned char last_type = 23;
    const auto type = static_cast<unsigned char>(first_bytes.empty() ? '\0' : first_bytes.front());
    return type >= first_type && type <= last_type;
}

std::string_view tls_session::open(std::string_view received) {
    if (!received.empty() && !std::exchange(heard_, true) && !is_tls(received))
        throw failure{store_errc::tls_failed,
                      "what answers there does not speak TLS; without it, it is redis://"};
    std::string_view said;
    throw_if(talk_->open(received, said));
    return said;
}

} // namespace holdfast::net
