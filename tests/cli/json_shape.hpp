// SPDX-License-Identifier: Apache-2.0
// Checks that the JSON of each verb has the same fields on every store, whether the lock is held or
// free.
#pragma once

#include "cli/program.hpp"

#include <boost/json.hpp>

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {

inline std::set<std::string> fields_of(const boost::json::value& told) {
    std::set<std::string> names;
    for (const auto& [name, value] : told.as_object())
        names.emplace(name);
    return names;
}

/// Fields that `holdfast inspect --help` states.
inline const std::set<std::string> fields_of_lock{
    "name",      "held",  "kind",       "type",    "owners",           "lease_left_ms",
    "listeners", "token", "last_token", "waiting", "reported_waiting", "waiters"};

inline void json_has_one_shape(const std::string& url, const std::string& name) {
    const auto told = [&](std::vector<std::string> verb) {
        const ended all = run(std::move(verb), url);
        return all.out.empty() ? boost::json::value{all.err} : boost::json::parse(all.out);
    };
    const boost::json::value free = told({"inspect", "--json", name});
    EXPECT_EQ(fields_of(free), fields_of_lock);
    EXPECT_FALSE(free.at("held").as_bool());
    EXPECT_TRUE(free.at("owners").as_array().empty());
    EXPECT_TRUE(free.at("waiters").as_array().empty());
    EXPECT_TRUE(free.at("kind").is_null());
    {
        program holder{{"run", name, "sh", "-c", "echo held; read nothing"}, url};
        ASSERT_EQ(holder.line(), "held");
        const boost::json::value held = told({"inspect", "--json", name});
        EXPECT_EQ(fields_of(held), fields_of_lock);
        EXPECT_TRUE(held.at("held").as_bool());
        const boost::json::value& owner = held.at("owners").at(0);
        EXPECT_EQ(fields_of(owner),
                  (std::set<std::string>{"owner", "count", "writes", "lease_left_ms", "held_since",
                                         "held_ms", "is_holdfast", "client"}));
        EXPECT_EQ(owner.at("lease_left_ms").is_null(), held.at("lease_left_ms").is_null());
        const boost::json::value listed = told({"ls", "--json", name}).at("locks").at(0);
        EXPECT_EQ(fields_of(listed), fields_of_lock);
        EXPECT_TRUE(listed.at("held").as_bool());
        const boost::json::value taken = told({"unlock", "--force", "--yes", "--json", name});
        EXPECT_EQ(fields_of(taken), (std::set<std::string>{"name", "released", "was"}));
        EXPECT_EQ(fields_of(taken.at("was")), fields_of_lock);
        EXPECT_TRUE(taken.at("was").at("held").as_bool());
    }
    const boost::json::value again = told({"unlock", "--force", "--yes", "--json", name});
    EXPECT_EQ(fields_of(again), (std::set<std::string>{"name", "released", "was"}));
    EXPECT_TRUE(again.at("was").is_null());
    EXPECT_EQ(fields_of(told({"wait", "-w", "9", "--json", name})),
              (std::set<std::string>{"name", "free", "waited_ms"}));
    const std::string slots = name + "-slots";
    program slot{{"run", "--slots", "2", slots, "sh", "-c", "echo held; read nothing"}, url};
    ASSERT_EQ(slot.line(), "held");
    const std::set<std::string> of_permits{"name", "kind", "exists", "count", "taken", "listeners"};
    const boost::json::value permits = told({"inspect", "--json", "--type", "permits", slots});
    EXPECT_EQ(fields_of(permits), of_permits);
    EXPECT_EQ(permits.at("taken").as_int64(), 1);
    const boost::json::value list = told({"ls", "--json", slots});
    EXPECT_EQ(fields_of(list), (std::set<std::string>{"locks", "counters", "complete", "server"}));
    EXPECT_EQ(fields_of(list.at("counters").at(0)), of_permits);
}

} // namespace holdfast::cli_test
