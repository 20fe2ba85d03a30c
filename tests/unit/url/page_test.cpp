// SPDX-License-Identifier: Apache-2.0
// docs/url.md tells of each parameter that there is, and of no other.
#include "support/source_tree.hpp"
#include "support/thrown.hpp"

#include <holdfast/client.hpp>

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using names = std::set<std::string>;

/// A name that is like none is answered with all that are known.
names known_parameters() {
    const std::string unlike(100, 'x');
    const support::thrown refused =
        support::thrown_by([&] { client{"rediss://host?" + unlike + "=1"}; });
    const std::string before_list = "known are ";
    const std::string list =
        refused.text.substr(refused.text.find(before_list) + before_list.size());
    names found;
    std::istringstream words{list};
    for (std::string word; std::getline(words >> std::ws, word, ',');)
        found.insert(word.substr(0, word.find(' ')));
    return found;
}

/// Quoted in the first column of a table, in the section of that title.
names named_in_section(const std::string& title) {
    std::ifstream page{support::source_file("docs/url.md")};
    names found;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## "))
            inside = line == "## " + title;
        if (!inside || !line.starts_with("| `"))
            continue;
        std::istringstream cell{line.substr(1, line.find('|', 1) - 1)};
        for (std::string part; std::getline(cell, part, '`') && std::getline(cell, part, '`');)
            found.insert(part);
    }
    return found;
}

TEST(UrlPage, TellsOfEveryParameterAndOfNoOther) {
    EXPECT_GT(known_parameters().size(), 10u);
    EXPECT_EQ(named_in_section("Parameters"), known_parameters());
}

} // namespace
} // namespace holdfast
