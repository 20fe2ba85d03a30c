// SPDX-License-Identifier: Apache-2.0
#include "net/openssl/trouble.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
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

/// Returns the words for an error text: "its certificate", or the name of the authority that has
/// the wrong certificate.
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

/// Returns the alert that the server has sent, or -1.
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

/// Returns the first TLS error in OpenSSL's queue. Lower layers of OpenSSL may have added errors
/// before it.
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
    // If a TLS 1.2 server requires a client certificate and gets none, it sends only this alert.
    if (alert == SSL_AD_HANDSHAKE_FAILURE)
        return {store_errc::tls_failed, "TLS: " + reason_of(error) + advice};
    return {store_errc::tls_failed, "TLS: " + reason_of(error)};
}

std::string first_reason() {
    return reason_of(ERR_peek_error());
}

} // namespace holdfast::net
