// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/certificates.hpp"

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::support {

/// Certificate that several servers share, and the options to use it.
class server_tls {
public:
    /// The servers trust their own authority and the authority in the file `other_authority`. The
    /// two authorities must have different names.
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
    // file in the authority's folder, which is removed with the folder
    const std::string trusted_ = authority_.file() + ".all";
};

} // namespace holdfast::support
