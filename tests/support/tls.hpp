// SPDX-License-Identifier: Apache-2.0
// TLS for tests: certificates, TLS options of servers, and the server end of a connection in
// memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct evp_pkey_st;
struct x509_st;

struct ssl_ctx_st;
struct ssl_st;

namespace holdfast::support {

// Each test makes its own certificates: those in a repository would expire.

/// Paths of a certificate and its key, both PEM files.
struct identity {
    std::string certificate_file;
    std::string key_file;
};

/// Certificate authority for tests. Its files are in a folder, which the destructor removes.
class authority {
public:
    using days = std::chrono::duration<int, std::ratio<86'400>>;

    struct wanted {
        /// Host names and addresses in the certificate. If empty, it has only a common name.
        std::string names = "DNS:localhost,IP:127.0.0.1";
        /// Begin and end of the certificate's validity, counted from now.
        days begins{-1};
        days ends{1};
        std::string key_password{}; ///< password of the key; empty: the key is not encrypted
    };

    explicit authority(std::string name = "The test's authority");
    authority(const authority&) = delete;
    ~authority();

    /// Returns the path of the authority's own certificate, for a client or server that must trust
    /// the authority.
    std::string file() const { return folder_ / "authority.pem"; }

    /// Writes a certificate to `<file>.pem` and its key to `<file>.key`. Overwrites existing files.
    identity issue(const std::string& file, const wanted&) const;
    identity issue(const std::string& file) const { return issue(file, {}); }

private:
    struct frees {
        void operator()(evp_pkey_st*) const noexcept;
        void operator()(x509_st*) const noexcept;
    };
    using key = std::unique_ptr<evp_pkey_st, frees>;
    using certificate = std::unique_ptr<x509_st, frees>;

    static key make_key();
    certificate make(evp_pkey_st& owner, const std::string& name, const wanted&) const;
    void sign(x509_st&) const;

    std::filesystem::path folder_;
    key key_;
    certificate own_;
};

/// Certificate that several servers share, and the options to use it.
class server_tls {
public:
    /// The servers trust their own authority, whose name is `name`, and the authority in the file
    /// `other_authority`, which must have another name.
    explicit server_tls(std::string name, const std::string& other_authority = {})
        : authority_{std::move(name)} {
        std::ofstream all{trusted_};
        for (const std::string& each : {authority_.file(), other_authority})
            if (!each.empty())
                all << std::ifstream{each}.rdbuf();
    }

    /// Returns the TLS options for the command line of a server.
    std::vector<std::string> arguments() const {
        return {"--tls-cert-file",    own_.certificate_file,
                "--tls-key-file",     own_.key_file,
                "--tls-ca-cert-file", trusted_,
                "--tls-auth-clients", "no"};
    }

    /// Returns the TLS lines for the configuration file of a server.
    std::string lines() const {
        std::string text;
        const std::vector<std::string> words = arguments();
        for (std::size_t i = 0; i < words.size(); i += 2)
            text += words[i].substr(2) + " " + words[i + 1] + "\n";
        return text;
    }

    /// Returns the file of the authority that a client must trust.
    std::string ca_file() const { return authority_.file(); }

private:
    authority authority_;
    identity own_ = authority_.issue("server");
    // In the authority's folder, to be removed with it.
    const std::string trusted_ = authority_.file() + ".all";
};

/// Server end of one TLS connection. It works in memory and has no socket.
class tls_peer {
public:
    struct options {
        /// Newest allowed TLS version, for example TLS1_2_VERSION. Zero: no limit.
        int version_max = 0;
        /// File of the authority from which clients need a certificate. Empty: they need none.
        std::string clients_from{};
    };

    tls_peer(const identity& own, const options&);
    explicit tls_peer(const identity& own)
        : tls_peer{own, options{}} {}

    /// Processes received bytes. Returns the bytes to send in reply.
    std::string take(std::string_view bytes);

    std::string say(std::string_view text);
    std::string say_goodbye();
    /// Returns bytes that ask the client to change the keys of both sides. TLS 1.3 only.
    std::string ask_for_new_keys();

    std::string heard;
    std::string refused; ///< why the connection failed, as OpenSSL reports it
    bool heard_goodbye() const;
    bool established() const;
    std::string name_asked_for() const; ///< host name that the client sent (SNI); empty: none

private:
    struct frees {
        void operator()(ssl_ctx_st*) const noexcept;
        void operator()(ssl_st*) const noexcept;
    };

    std::string output();
    void read();

    std::unique_ptr<ssl_st, frees> ssl_;
};

} // namespace holdfast::support
