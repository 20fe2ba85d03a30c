// SPDX-License-Identifier: Apache-2.0
#include "support/tls.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

void require(bool done) {
    if (!done)
        throw std::runtime_error{"OpenSSL cannot make a certificate"};
}

using open_file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Writes a temporary file and then renames it, because a server may read the file at any moment.
template <typename Write>
void write_file(const std::string& path, Write write) {
    const std::string beside = path + ".new";
    {
        const open_file file{std::fopen(beside.c_str(), "w"), &std::fclose};
        require(file != nullptr && write(file.get()) == 1);
    }
    fs::rename(beside, path);
}

void add_extension(X509& to, int kind, const std::string& value) {
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> made{
        X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()), &X509_EXTENSION_free};
    require(made != nullptr && X509_add_ext(&to, made.get(), -1) == 1);
}

void write_key(const std::string& path, EVP_PKEY& key, const std::string& password) {
    const EVP_CIPHER* const cipher = password.empty() ? nullptr : EVP_aes_128_cbc();
    write_file(path, [&](std::FILE* file) {
        return PEM_write_PKCS8PrivateKey(file, &key, cipher, password.data(),
                                         static_cast<int>(password.size()), nullptr, nullptr);
    });
}

void write_certificate(const std::string& path, X509& certificate) {
    write_file(path, [&](std::FILE* file) { return PEM_write_X509(file, &certificate); });
}

} // namespace

void authority::frees::operator()(EVP_PKEY* key) const noexcept {
    EVP_PKEY_free(key);
}
void authority::frees::operator()(X509* certificate) const noexcept {
    X509_free(certificate);
}

authority::authority(std::string name)
    : key_{make_key()} {
    std::string pattern = fs::temp_directory_path() / "holdfast-XXXXXX";
    require(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    own_ = make(*key_, name, {.names = {}});
    add_extension(*own_, NID_basic_constraints, "critical,CA:TRUE");
    sign(*own_);
    write_certificate(file(), *own_);
}

authority::~authority() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

authority::key authority::make_key() {
    key made{EVP_EC_gen("P-256")};
    require(made != nullptr);
    return made;
}

authority::certificate authority::make(EVP_PKEY& owner, const std::string& name,
                                       const wanted& how) const {
    certificate made{X509_new()};
    require(made && X509_set_version(made.get(), X509_VERSION_3) == 1);
    std::uint64_t serial = 0;
    require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
    require(ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial) == 1);
    const std::chrono::seconds begins = how.begins, ends = how.ends;
    X509_gmtime_adj(X509_getm_notBefore(made.get()), begins.count());
    X509_gmtime_adj(X509_getm_notAfter(made.get()), ends.count());
    require(X509_set_pubkey(made.get(), &owner) == 1);
    const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME* const subject = X509_get_subject_name(made.get());
    require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1);
    X509_NAME* const issuer = own_ ? X509_get_subject_name(own_.get()) : subject;
    require(X509_set_issuer_name(made.get(), issuer) == 1);
    if (!how.names.empty())
        add_extension(*made, NID_subject_alt_name, how.names);
    return made;
}

void authority::sign(X509& unsigned_one) const {
    require(X509_sign(&unsigned_one, key_.get(), EVP_sha256()) > 0);
}

identity authority::issue(const std::string& file, const wanted& how) const {
    identity made{folder_ / (file + ".pem"), folder_ / (file + ".key")};
    const key owner = make_key();
    const certificate signed_one = make(*owner, file, how);
    sign(*signed_one);
    write_key(made.key_file, *owner, how.key_password);
    write_certificate(made.certificate_file, *signed_one);
    return made;
}

namespace {

void agree(bool done) {
    if (!done)
        throw std::runtime_error{std::string{"TLS peer: "} +
                                 ERR_error_string(ERR_peek_error(), nullptr)};
}

} // namespace

void tls_peer::frees::operator()(SSL_CTX* context) const noexcept {
    SSL_CTX_free(context);
}
void tls_peer::frees::operator()(SSL* session) const noexcept {
    SSL_free(session);
}

tls_peer::tls_peer(const identity& own, const options& how) {
    ERR_clear_error();
    const std::unique_ptr<SSL_CTX, frees> made{SSL_CTX_new(TLS_server_method())};
    SSL_CTX* const context = made.get();
    // Old TLS versions need algorithms that the system may forbid at a higher security level.
    SSL_CTX_set_security_level(context, 0);
    agree(SSL_CTX_set_min_proto_version(context, 0) == 1);
    agree(SSL_CTX_set_max_proto_version(context, how.version_max) == 1);
    agree(SSL_CTX_use_certificate_chain_file(context, own.certificate_file.c_str()) == 1);
    agree(SSL_CTX_use_PrivateKey_file(context, own.key_file.c_str(), SSL_FILETYPE_PEM) == 1);
    if (!how.clients_from.empty()) {
        agree(SSL_CTX_load_verify_file(context, how.clients_from.c_str()) == 1);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    ssl_.reset(SSL_new(context));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
}

std::string tls_peer::take(std::string_view bytes) {
    ERR_clear_error();
    std::size_t written = 0;
    if (!bytes.empty())
        agree(BIO_write_ex(SSL_get_rbio(ssl_.get()), bytes.data(), bytes.size(), &written) == 1);
    read();
    return output();
}

void tls_peer::read() {
    for (;;) {
        std::array<char, 16 * 1024> text;
        std::size_t size = 0;
        const int result = SSL_read_ex(ssl_.get(), text.data(), text.size(), &size);
        heard.append(text.data(), size);
        if (result == 1)
            continue;
        const int why = SSL_get_error(ssl_.get(), result);
        refused = why == SSL_ERROR_SSL ? ERR_reason_error_string(ERR_peek_error()) : "";
        return;
    }
}

std::string tls_peer::output() {
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl_.get())), '\0');
    std::size_t taken = 0;
    (void)BIO_read_ex(SSL_get_wbio(ssl_.get()), bytes.data(), bytes.size(), &taken);
    return bytes;
}

std::string tls_peer::say(std::string_view text) {
    std::size_t written = 0;
    agree(SSL_write_ex(ssl_.get(), text.data(), text.size(), &written) == 1);
    return output();
}

std::string tls_peer::say_goodbye() {
    agree(SSL_shutdown(ssl_.get()) >= 0);
    return output();
}

std::string tls_peer::ask_for_new_keys() {
    agree(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
    agree(SSL_do_handshake(ssl_.get()) == 1);
    return output();
}

bool tls_peer::heard_goodbye() const {
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

bool tls_peer::established() const {
    return SSL_is_init_finished(ssl_.get()) == 1;
}

std::string tls_peer::name_asked_for() const {
    const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
}

} // namespace holdfast::support
