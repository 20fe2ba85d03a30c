// SPDX-License-Identifier: Apache-2.0
#include "support/source_tree.hpp"

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

std::optional<fs::path> find_above(fs::path folder, std::string_view path) {
    for (;; folder = folder.parent_path()) {
        if (fs::exists(folder / path))
            return folder / path;
        if (folder == folder.root_path())
            return std::nullopt;
    }
}

} // namespace

fs::path source_file(std::string_view path) {
    if (const char* root = std::getenv("HOLDFAST_SOURCE_DIR"))
        return fs::path{root} / path;
    if (const auto found = find_above(fs::read_symlink("/proc/self/exe").parent_path(), path))
        return *found;
    if (const auto found = find_above(fs::current_path(), path))
        return *found;
    throw std::runtime_error{"no " + std::string{path} +
                             " above this program: set HOLDFAST_SOURCE_DIR to the sources"};
}

} // namespace holdfast::support
