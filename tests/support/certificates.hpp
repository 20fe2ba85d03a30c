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

/// Certificate and key in PEM files.
struct identity {
    std::string certificate_file;
    std::string key_file;
};

/// Certificate authority for tests. Its files are in a folder that the destructor removes.
class authority {
public:
    using days = std::chrono::duration<int, std::ratio<86'400>>;

    struct wanted {
        std::string names = "DNS:localhost,IP:127.0.0.1"; ///< empty for only a common name
        days begins{-1};                                  ///< relative to now
        days ends{1};
        std::string key_password{}; ///< empty if the key is not encrypted
    };

    explicit authority(std::string name = "The test's authority");
    authority(const authority&) = delete;
    ~authority();

    /// Returns the file of its own certificate, for a client or server that trusts it.
    std::string file() const { return folder_ / "authority.pem"; }

    /// Writes `<file>.pem` and `<file>.key`, and overwrites existing files.
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
