// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scripts_fixture.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

/// The scripts as a user who lacks something calls them.
class on_limited_scripts : public on_scripts {
protected:
    using on_scripts::on_scripts;

    /// From now on, as a user with every right but the one for `command`.
    void deny(const std::string& command) { become({"~*", "&*", "+@all", "-" + command}); }

    /// From now on, as a user with these rights.
    void become(const std::vector<std::string>& rules) {
        std::vector<std::string> words{"ACL", "SETUSER", "limited", "reset", "on", "nopass"};
        words.insert(words.end(), rules.begin(), rules.end());
        ASSERT_EQ(server().command(words).text, "OK");
        limited_.emplace(server().socket_path());
        limited_->command({"AUTH", "limited", "any"});
    }

    /// From now on, as who may do everything.
    void allow_all() { limited_.reset(); }

    redis::reply run(const redis::script& what, std::vector<std::string> keys,
                     std::vector<std::string> arguments) override {
        return limited_
                   ? support::run_script(*limited_, what, std::move(keys), std::move(arguments))
                   : on_scripts::run(what, std::move(keys), std::move(arguments));
    }

    std::optional<support::redis_connection> limited_;
};

} // namespace holdfast
