// SPDX-License-Identifier: Apache-2.0
// A URL with `?prefix=`: every verb reads and prints names without the prefix.
#include "cli/server_test.hpp"

#include <boost/json.hpp>

#include <array>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Prefix : public on_server {
protected:
    /// The prefix has a character that is written with an escape in the URL: `shop [1]:`.
    std::string shops_url() { return url() + "?prefix=shop%20[1]:&lease_time=20s"; }

    boost::json::value told_of(std::vector<std::string> verb) {
        const ended told = run(std::move(verb), shops_url());
        return told.out.empty() ? boost::json::value{told.err} : boost::json::parse(told.out);
    }
};
HOLDFAST_ON_EACH_SERVER(Prefix);

TEST_P(Prefix, NamesThatLsPrintsWorkWithEachVerb) {
    program holder{until_closed(), shops_url()};
    ASSERT_EQ(holder.line(), "held");
    ASSERT_EQ(server().command({"EXISTS", "shop [1]:job"}).integer, 1);
    const std::string listed = run({"ls", "-1"}, shops_url()).out;
    ASSERT_EQ(listed, "job\n");
    EXPECT_EQ(run({"ls", "-1", "jo*"}, shops_url()).out, "job\n");
    EXPECT_THAT(run({"ls"}, shops_url()).out, AllOf(HasSubstr("job"), Not(HasSubstr("shop"))));
    EXPECT_EQ(run({"wait", "-w", "0", "job"}, shops_url()).status, 1);
    const ended told = run({"inspect", "job"}, shops_url());
    EXPECT_EQ(told.status, 0);
    EXPECT_THAT(told.out, HasSubstr("name       job\n"));
    EXPECT_EQ(run({"unlock", "--force", "--yes", "job"}, shops_url()).status, 0);
    const ended lost = holder.end();
    EXPECT_EQ(lost.status, 75);
    EXPECT_THAT(lost.err, AllOf(HasSubstr("lock 'job' was lost"), Not(HasSubstr("shop"))));
}

TEST_P(Prefix, JsonOfEachVerbHasTheSameName) {
    const program holder{until_closed(), shops_url()};
    ASSERT_TRUE(eventually([&] {
        return told_of({"inspect", "--json", "job"}).at("held").as_bool();
    }));
    const auto name_in = [](const boost::json::value& told) { return told.at("name").as_string(); };
    EXPECT_EQ(name_in(told_of({"inspect", "--json", "job"})), "job");
    EXPECT_EQ(name_in(told_of({"ls", "--json"}).at("locks").at(0)), "job");
    EXPECT_EQ(name_in(told_of({"wait", "-w", "0", "--json", "job"})), "job");
    const boost::json::value taken = told_of({"unlock", "--force", "--yes", "--json", "job"});
    EXPECT_EQ(name_in(taken), "job");
    EXPECT_EQ(name_in(taken.at("was")), "job");
}

TEST_P(Prefix, CountersAreListedWithoutThePrefix) {
    const program holder{until_closed({"--slots", "2"}), shops_url()};
    ASSERT_TRUE(
        eventually([&] { return run({"ls"}, shops_url()).out.find("job") != std::string::npos; }));
    EXPECT_EQ(run({"run", "--rate", "9/1h", "mails", "true"}, shops_url()).status, 0);
    EXPECT_EQ(run({"latch", "set", "gate", "1"}, shops_url()).status, 0);
    const boost::json::value all = told_of({"ls", "--json"});
    for (const boost::json::value& each : all.at("counters").as_array())
        EXPECT_THAT(each.at("name").as_string().c_str(), Not(HasSubstr("shop")));
    EXPECT_EQ(all.at("counters").as_array().size(), 2U);
    for (const auto& [type, counter] :
         {std::array{"permits", "job"}, std::array{"rate", "mails"}, std::array{"latch", "gate"}}) {
        SCOPED_TRACE(type);
        EXPECT_THAT(run({"ls", "-1", "--type", type}, shops_url()).out,
                    AllOf(HasSubstr(std::string{counter} + "\n"), Not(HasSubstr("shop"))));
        EXPECT_EQ(run({"inspect", "--type", type, counter}, shops_url()).status, 0);
    }
    EXPECT_EQ(run({"unlock", "--force", "--yes", "--type", "permits", "job"}, shops_url()).status,
              0);
}

} // namespace
} // namespace holdfast::cli_test
