// SPDX-License-Identifier: Apache-2.0
// Histories that a test writes itself, for checkers to find something in.
#pragma once

#include "interop/history.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace holdfast::interop {

class written_histories : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove_all(folder_); }

    history worker(const std::string& name, const std::string& lines,
                   std::optional<moment> killed_at = {}) {
        std::ofstream{folder_ / name} << lines;
        return read_history(folder_ / name, killed_at);
    }
    const std::filesystem::path& folder() const { return folder_; }

private:
    static std::filesystem::path new_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
        return ::mkdtemp(pattern.data());
    }

    const std::filesystem::path folder_ = new_folder();
};

} // namespace holdfast::interop
