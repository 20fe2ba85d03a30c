// SPDX-License-Identifier: Apache-2.0
#include "net/openssl/engine.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>
#include <vector>

namespace holdfast::net {
namespace {

/// Makes a text from the server safe for a log: replaces unprintable characters, and limits the
/// length.
std::string printable(std::string text) {
    constexpr std::size_t length_max = 200;
    std::ranges::replace_if(
        text, [](char c) { return c < ' ' || c > '~'; }, '?');
    return text.size() > length_max ? text.substr(0, length_max) + "..." : text;
}

std::string text_of(const ASN1_STRING* text) {
    const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(text));
    return {bytes, static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_in(const ASN1_OCTET_STRING* octets) {
    const std::string bytes = text_of(octets);
    asio::ip::address_v4::bytes_type v4;
    asio::ip::address_v6::bytes_type v6;
    if (bytes.size() == v4.size()) {
        std::ranges::copy(bytes, v4.begin());
        return asio::ip::address_v4{v4}.to_string();
    }
    if (bytes.size() == v6.size()) {
        std::ranges::copy(bytes, v6.begin());
        return asio::ip::address_v6{v6}.to_string();
    }
    return {};
}

/// Returns the names and addresses that the certificate is valid for.
std::string names_in(const X509* certificate) {
    const owned_names all{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
    std::string listed;
    for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
        const GENERAL_NAME* const one = sk_GENERAL_NAME_value(all.get(), i);
        const std::string name = one->type == GEN_DNS     ? text_of(one->d.dNSName)
                                 : one->type == GEN_IPADD ? address_in(one->d.iPAddress)
                                                          : std::string{};
        if (!name.empty())
            listed += (listed.empty() ? "" : ", ") + name;
    }
    return printable(listed);
}

std::string name_wanted(X509_STORE_CTX& context) {
    X509_VERIFY_PARAM* const wanted = X509_STORE_CTX_get0_param(&context);
    if (const char* const host = X509_VERIFY_PARAM_get0_host(wanted, 0))
        return host;
    const std::unique_ptr<char, freed_by<[](void* p) { OPENSSL_free(p); }>> address{
        X509_VERIFY_PARAM_get1_ip_asc(wanted)};
    return address ? address.get() : "";
}

std::string wrong_name(X509_STORE_CTX& context, const X509* certificate) {
    const std::string names = names_in(certificate);
    return (names.empty() ? "its certificate names no host (in subjectAltName)"
                          : "its certificate is for " + names) +
           ", not for " + name_wanted(context) +
           "; if it is the right server, tls_server_name says which name to expect";
}

std::string in_words(const ASN1_TIME* moment) {
    std::tm when{};
    std::array<char, 32> text{};
    if (ASN1_TIME_to_tm(moment, &when) == 1)
        (void)std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &when);
    return text.data();
}

std::string subject_of(const X509_NAME* name) {
    std::array<char, 256> text{};
    X509_NAME_oneline(name, text.data(), static_cast<int>(text.size()));
    return printable(text.data());
}

/// Returns how an error text names the wrong certificate: "its certificate", or the name of the
/// authority that the certificate belongs to.
std::string whose(X509_STORE_CTX& context, const X509* certificate) {
    if (X509_STORE_CTX_get_error_depth(&context) == 0)
        return "its certificate";
    return "the certificate of its authority " + subject_of(X509_get_subject_name(certificate));
}

} // namespace

std::string objection_of(X509_STORE_CTX& context) {
    const int error = X509_STORE_CTX_get_error(&context);
    const X509* const certificate = X509_STORE_CTX_get_current_cert(&context);
    if (!certificate)
        return X509_verify_cert_error_string(error);
    switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return wrong_name(context, certificate);
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return whose(context, certificate) + " has expired, on " +
               in_words(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return whose(context, certificate) + " is not valid before " +
               in_words(X509_get0_notBefore(certificate)) + "; is this machine's date right?";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        return whose(context, certificate) + " was signed by " +
               subject_of(X509_get_issuer_name(certificate)) +
               ", which is not trusted here; tls_ca_file names the authorities that are";
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return whose(context, certificate) + " was not signed by the " +
               subject_of(X509_get_issuer_name(certificate)) +
               " that is trusted here, but by another of that name; tls_ca_file names the "
               "authorities that are";
    default:
        return whose(context, certificate) + ": " + X509_verify_cert_error_string(error);
    }
}

namespace {

/// Returns the TLS alert that the server has sent, or -1 if the error is no alert.
int alert_in(unsigned long error) {
    const int reason = ERR_GET_REASON(error);
    const bool is_alert = ERR_GET_LIB(error) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET;
    return is_alert ? reason - SSL_AD_REASON_OFFSET : -1;
}

bool is_about_our_certificate(int alert) {
    constexpr std::array all{
        SSL_AD_NO_CERTIFICATE,      SSL_AD_BAD_CERTIFICATE,     SSL_AD_CERTIFICATE_REVOKED,
        SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNSUPPORTED_CERTIFICATE,
        SSL_AD_UNKNOWN_CA,          SSL_AD_ACCESS_DENIED,       SSL_AD_CERTIFICATE_REQUIRED};
    return std::ranges::find(all, alert) != all.end();
}

/// Returns the first TLS error in OpenSSL's queue. Lower layers of OpenSSL may have put other
/// errors before it.
unsigned long error_of_tls() {
    const unsigned long first = ERR_peek_error();
    while (const unsigned long next = ERR_get_error())
        if (ERR_GET_LIB(next) == ERR_LIB_SSL)
            return next;
    return first;
}

constexpr const char* about_own_certificate =
    "; if it wants a certificate of this client, that is tls_certificate_file and tls_key_file";

std::string reason_of(unsigned long error) {
    if (ERR_SYSTEM_ERROR(error))
        return std::strerror(ERR_GET_REASON(error));
    const char* const text = ERR_reason_error_string(error);
    return text ? text : "unknown reason";
}

} // namespace

tls_trouble trouble_of(const SSL& session, const std::string& objection) {
    if (!objection.empty())
        return {store_errc::untrusted, "TLS: " + objection};
    const unsigned long error = error_of_tls();
    const int alert = alert_in(error);
    const char* const advice = SSL_get_certificate(&session) ? "" : about_own_certificate;
    if (is_about_our_certificate(alert))
        return {store_errc::not_authenticated,
                "TLS: the server does not accept this client: " + reason_of(error) + advice};
    // A TLS 1.2 server sends only the alert `handshake_failure` if it requires a client certificate
    // and gets none.
    if (alert == SSL_AD_HANDSHAKE_FAILURE)
        return {store_errc::tls_failed, "TLS: " + reason_of(error) + advice};
    return {store_errc::tls_failed, "TLS: " + reason_of(error)};
}

std::string first_reason() {
    return reason_of(ERR_peek_error());
}

namespace {

/// Stores the reason for which the verification failed. OpenSSL calls this function while the
/// reason is still available. The function does not change the result of the verification.
int note_objection(int well, X509_STORE_CTX* context) noexcept {
    if (well == 1)
        return well;
    const auto* const session = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
    *static_cast<std::string*>(SSL_get_app_data(session)) = objection_of(*context);
    return well;
}

BIO* make_buffer() {
    BIO* const made = BIO_new(BIO_s_mem());
    return made ? made : throw std::bad_alloc{};
}

} // namespace

openssl_session::openssl_session(owned_ssl prepared)
    : ssl_{std::move(prepared)}
    , received_{make_buffer()}
    , to_send_{make_buffer()} {
    SSL_set_bio(ssl_.get(), received_, to_send_);
    SSL_set_app_data(ssl_.get(), &objection_);
    if (SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE)
        SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, note_objection);
    SSL_set_connect_state(ssl_.get());
    shake_hands();
}

bool openssl_session::seal(std::string_view plain, std::string& out) {
    ERR_clear_error();
    std::size_t sealed = 0;
    const bool well =
        plain.empty() || SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &sealed) == 1;
    take_output(out);
    return well;
}

maybe_trouble openssl_session::open(std::string_view received, std::string_view& said) {
    return trouble_in([&] {
        take_in(received);
        if (!established_)
            shake_hands();
        // Create the view after read_into_plain(), because this call may move the buffer plain_ to
        // other memory.
        const std::size_t size = established_ ? read_into_plain() : 0;
        said = std::string_view{plain_}.substr(0, size);
    });
}

void openssl_session::take_in(std::string_view received) {
    if (received.empty())
        return;
    std::size_t taken = 0;
    if (BIO_write_ex(received_, received.data(), received.size(), &taken) != 1)
        throw std::bad_alloc{};
}

void openssl_session::shake_hands() {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    established_ = result == 1;
    throw_unless_more_is_needed(result);
}

std::size_t openssl_session::read_into_plain() {
    ERR_clear_error();
    std::size_t size = 0;
    for (;;) {
        if (plain_.size() - size < SSL3_RT_MAX_PLAIN_LENGTH)
            plain_.resize(size + SSL3_RT_MAX_PLAIN_LENGTH);
        std::size_t got = 0;
        const int result =
            SSL_read_ex(ssl_.get(), plain_.data() + size, plain_.size() - size, &got);
        size += got;
        if (result == 1)
            continue;
        throw_unless_more_is_needed(result);
        return size;
    }
}

void openssl_session::throw_unless_more_is_needed(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
    case SSL_ERROR_WANT_READ:
        return;
    case SSL_ERROR_ZERO_RETURN:
        ended_ = true;
        return;
    default:
        throw trouble_of(*ssl_, objection_);
    }
}

void openssl_session::take_output(std::string& out) {
    const std::size_t before = out.size();
    out.resize(before + BIO_ctrl_pending(to_send_));
    std::size_t taken = 0;
    (void)BIO_read_ex(to_send_, out.data() + before, out.size() - before, &taken);
}

void openssl_session::say_goodbye(std::string& out) {
    ERR_clear_error();
    if (established_)
        (void)SSL_shutdown(ssl_.get());
    take_output(out);
}

namespace {

void require(bool done) {
    if (!done)
        throw std::bad_alloc{}; // lack of memory is the only possible cause
}

[[noreturn]] void fail(std::string_view field, const std::string& file) {
    throw tls_trouble{std::nullopt,
                      "tls_" + std::string{field} + " " + file + ": " + first_reason()};
}

/// Gives OpenSSL the password of a private key. Without this callback, OpenSSL would ask for the
/// password at the terminal.
int hand_over_password(char* buffer, int size, int, void* of_key) noexcept {
    const std::string_view password = static_cast<const secret*>(of_key)->reveal();
    if (password.size() > static_cast<std::size_t>(size))
        return -1;
    std::ranges::copy(password, buffer);
    return static_cast<int>(password.size());
}

void use_own_certificate(SSL_CTX& context, const tls_options& how) {
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(&context, how.certificate_file.c_str()) != 1)
        fail("certificate_file", how.certificate_file);
    SSL_CTX_set_default_passwd_cb(&context, hand_over_password);
    SSL_CTX_set_default_passwd_cb_userdata(&context, const_cast<secret*>(&how.key_password));
    if (SSL_CTX_use_PrivateKey_file(&context, how.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(&context) != 1)
        fail("key_file", how.key_file);
}

/// Creates a TLS context with all settings, but without the system's trusted authorities.
owned_context make_context(const tls_options& how) {
    owned_context made{SSL_CTX_new(TLS_client_method())};
    require(made != nullptr);
    // Set the minimum version only if the system's own minimum is lower.
    if (SSL_CTX_get_min_proto_version(made.get()) < TLS1_2_VERSION)
        SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(made.get(), SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(made.get(),
                       how.insecure_skip_verification ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    ERR_clear_error();
    if (!how.ca_file.empty() && SSL_CTX_load_verify_file(made.get(), how.ca_file.c_str()) != 1)
        fail("ca_file", how.ca_file);
    if (!how.certificate_file.empty())
        use_own_certificate(*made, how);
    return made;
}

void expect_address(X509_VERIFY_PARAM* certificate, const asio::ip::address& address) {
    const auto expect = [certificate](const auto& bytes) {
        require(X509_VERIFY_PARAM_set1_ip(certificate, bytes.data(), bytes.size()) == 1);
    };
    if (address.is_v4())
        expect(address.to_v4().to_bytes());
    else
        expect(address.to_v6().to_bytes());
}

/// Sets the name that the server's certificate must be valid for. The certificate's common name is
/// ignored (RFC 9525), and so is a partial wildcard such as `db*.internal`.
void expect(SSL& session, const std::string& name) {
    X509_VERIFY_PARAM* const certificate = SSL_get0_param(&session);
    error_code not_numeric;
    const auto address = asio::ip::make_address(name, not_numeric);
    if (!not_numeric)
        return expect_address(certificate, address); // SNI is only for names, not for addresses
    require(SSL_set_tlsext_host_name(&session, name.c_str()) == 1);
    X509_VERIFY_PARAM_set_hostflags(certificate, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                     X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    require(X509_VERIFY_PARAM_set1_host(certificate, name.data(), name.size()) == 1);
}

} // namespace

openssl_engine::openssl_engine(tls_options how, std::string server_name)
    : how_{std::move(how)}
    , server_name_{std::move(server_name)} {}

maybe_trouble openssl_engine::check_files() const {
    return trouble_in([this] { (void)make_context(how_); });
}

maybe_trouble openssl_engine::begin(std::unique_ptr<tls_talk>& begun) {
    return trouble_in([&] {
        const owned_context context = make_context(how_);
        if (how_.ca_file.empty() && !how_.insecure_skip_verification)
            SSL_CTX_set1_cert_store(context.get(), systems_authorities());
        owned_ssl session{SSL_new(context.get())};
        require(session != nullptr);
        expect(*session, server_name_);
        begun = std::make_unique<openssl_session>(std::move(session));
    });
}

/// Returns the certificate authorities that the system trusts. They are read once and kept, because
/// reading them blocks the thread for 30 ms.
X509_STORE* openssl_engine::systems_authorities() {
    if (!systems_authorities_) {
        systems_authorities_.reset(X509_STORE_new());
        require(systems_authorities_ != nullptr);
        (void)X509_STORE_set_default_paths(systems_authorities_.get());
    }
    return systems_authorities_.get();
}

} // namespace holdfast::net
