// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/program.hpp"
#include "support/on_each_server.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {

/// For tests of the private server: a runtime folder of their own, and a PATH in which the server
/// under test is the first. Whatever still runs is ended with the test.
class with_private_server : public ::testing::TestWithParam<support::server_binary> {
protected:
    with_private_server();
    ~with_private_server() override;
    void SetUp() override;

    /// The words of `holdfast <arguments>` where no server is named, with this more in the
    /// environment (`NAME=value`, which wins).
    program::exactly holdfast(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment = {}) const;

    /// Runs that to its end.
    ended run(const std::vector<std::string>& arguments,
              const std::vector<std::string>& environment = {}) const;

    /// `run [options] NAME`, with a command that says `held` and ends when its stdin is closed.
    program::exactly holding(const std::string& name,
                             const std::vector<std::string>& options = {}) const;

    boost::json::object status() const;
    bool runs() const { return status().at("running").as_bool(); }
    pid_t process() const; ///< the server's
    pid_t supervisor() const;

    std::filesystem::path folder; ///< the user's runtime folder

private:
    std::filesystem::path programs_;
};

} // namespace holdfast::cli_test
