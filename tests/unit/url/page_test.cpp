// SPDX-License-Identifier: Apache-2.0
// docs/url.md tells of each parameter that there is, and of no other, and what is allowed there.
#include "support/source_tree.hpp"
#include "support/thrown.hpp"
#include "url.hpp"
#include "validation.hpp"

#include <holdfast/client.hpp>

#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using names = std::set<std::string>;

/// A name that is like none is answered with all that are known.
names known_parameters(const std::string& url = "rediss://host") {
    const std::string unlike(100, 'x');
    const support::thrown refused = support::thrown_by([&] { client{url + "?" + unlike + "=1"}; });
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

/// The cells of the table's rows, without what encloses them.
std::vector<std::vector<std::string>> parameter_rows(const std::string& title = "Parameters") {
    std::ifstream page{support::source_file("docs/url.md")};
    std::vector<std::vector<std::string>> rows;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## "))
            inside = line == "## " + title;
        if (!inside || !line.starts_with("| `"))
            continue;
        std::istringstream cells{line.substr(1)};
        rows.emplace_back();
        for (std::string cell; std::getline(cells, cell, '|');)
            rows.back().push_back(cell.substr(1, cell.size() - 2));
    }
    return rows;
}

/// `1ms`, or `16`: a number, and its unit if it has one.
struct quantity {
    std::int64_t count;
    std::string unit;

    std::string plus(std::int64_t more) const { return std::to_string(count + more) + unit; }
};
std::optional<quantity> read_quantity(const std::string& quoted) {
    std::istringstream text{quoted};
    char quote = 0;
    quantity found{};
    if (text >> quote >> found.count && quote == '`' && std::getline(text, found.unit, '`'))
        return found;
    return std::nullopt;
}

bool is_taken(const std::string& name, const std::string& value,
              const std::string& url = "redis://host") {
    options how;
    how.url = url + "?" + name + "=" + value;
    const support::thrown refused = support::thrown_by([&] { check(resolve_url(how)); });
    const std::string field = name == "hand_off_within" ? "hand_off" : name;
    EXPECT_TRUE(!refused.code || refused.text.find(field) != std::string::npos) << refused.text;
    return !refused.code;
}

TEST(UrlPage, SaysWhatIsAllowed) {
    int lengths = 0, bounded = 0;
    for (const std::vector<std::string>& row : parameter_rows()) {
        ASSERT_GE(row.size(), 4u) << row.front();
        const std::string name = row[0].substr(1, row[0].size() - 2);
        if (name == "redisson")
            continue; // which is a version, and no quantity
        const auto usual = read_quantity(row[1]);
        const auto least = read_quantity(row[2]);
        if ((usual && !usual->unit.empty()) || name == "max_hold") {
            ASSERT_TRUE(least) << name << " is a length of time, and nothing is said of its bounds";
            ++lengths;
        }
        if (!least)
            continue;
        EXPECT_TRUE(is_taken(name, least->plus(0))) << name;
        EXPECT_FALSE(is_taken(name, least->plus(-1))) << name;
        if (row[2].ends_with(" and more")) {
            EXPECT_TRUE(is_taken(name, std::to_string(duration::max().count()) + "ms")) << name;
            continue;
        }
        const auto most = read_quantity(row[2].substr(row[2].find(" to ") + 4));
        ASSERT_TRUE(most) << name;
        EXPECT_TRUE(is_taken(name, most->plus(0))) << name;
        EXPECT_FALSE(is_taken(name, most->plus(1))) << name;
        ++bounded;
    }
    EXPECT_EQ(lengths, 14);
    EXPECT_EQ(bounded, 12);
}

TEST(UrlPage, TellsOfEveryParameterAndOfNoOther) {
    EXPECT_GT(known_parameters().size(), 10u);
    EXPECT_EQ(named_in_section("Parameters"), known_parameters());
}

TEST(UrlPage, TellsOfThoseOfZookeeperToo) {
    names all = named_in_section("Parameters of ZooKeeper");
    EXPECT_GT(all.size(), 10u);
    all.merge(known_parameters("memory:page")); // which every store has
    EXPECT_EQ(all, known_parameters("zk://host"));
    int bounded = 0;
    for (const std::vector<std::string>& row : parameter_rows("Parameters of ZooKeeper")) {
        const auto least = read_quantity(row.at(2));
        if (!least)
            continue;
        const std::string name = row[0].substr(1, row[0].size() - 2);
        const auto most = read_quantity(row[2].substr(row[2].find(" to ") + 4));
        ASSERT_TRUE(most) << name;
        EXPECT_TRUE(is_taken(name, least->plus(0), "zk://host")) << name;
        EXPECT_FALSE(is_taken(name, least->plus(-1), "zk://host")) << name;
        EXPECT_TRUE(is_taken(name, most->plus(0), "zk://host")) << name;
        EXPECT_FALSE(is_taken(name, most->plus(1), "zk://host")) << name;
        ++bounded;
    }
    EXPECT_EQ(bounded, 3);
}

} // namespace
} // namespace holdfast
