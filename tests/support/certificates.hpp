// SPDX-License-Identifier: Apache-2.0
// Certificates that each test makes itself, so that none in the repository can expire.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

struct evp_pkey_st;
struct x509_st;

namespace holdfast::support {

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
        /// host names and addresses; empty: only a common name
        std::string names = "DNS:localhost,IP:127.0.0.1";
        /// begin of the validity, as an offset from now
        days begins{-1};
        days ends{1};
        std::string key_password{}; ///< password of the key; empty: the key is not encrypted
    };

    explicit authority(std::string name = "The test's authority");
    authority(const authority&) = delete;
    ~authority();

    /// Returns the path of the authority's own certificate. A client or server that trusts the
    /// authority needs it.
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

} // namespace holdfast::support
