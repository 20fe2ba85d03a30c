// SPDX-License-Identifier: Apache-2.0
// Tests that run each verb on a store that is not Redis. The verbs must behave as on Redis.
#pragma once

#include "cli/json_shape.hpp"
#include "cli/program.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {

/// A server that is there for a whole suite; each test has names of its own.
class on_other_store : public ::testing::Test {
protected:
    const std::string name =
        std::string{"job-"} + ::testing::UnitTest::GetInstance()->current_test_info()->name();

    virtual std::string url() const = 0;

    ended run_here(std::vector<std::string> arguments) { return run(std::move(arguments), url()); }

    /// Arguments for `program`: a command under the lock that says `held`, and ends when its stdin
    /// is closed.
    std::vector<std::string> until_closed(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), "run");
        for (const char* word : {"--lease", "3s"})
            options.emplace_back(word);
        options.push_back(name);
        for (const char* word : {"--", "sh", "-c", "echo held; read nothing; echo done"})
            options.emplace_back(word);
        return options;
    }

    boost::json::value told_of(std::vector<std::string> verb) {
        const ended told = run_here(std::move(verb));
        return told.out.empty() ? boost::json::value{told.err} : boost::json::parse(told.out);
    }

    void expect_refused(std::vector<std::string> arguments, const std::string& words) {
        const ended told = run_here(std::move(arguments));
        EXPECT_EQ(told.status, 64) << told.out;
        EXPECT_THAT(told.err, ::testing::HasSubstr(words));
    }

    // Tests that are the same on each such store.

    void a_command_runs_under_a_lock() {
        EXPECT_EQ(run_here({"run", name, "--", "sh", "-c", "exit 7"}).status, 7);
        program holder{until_closed(), url()};
        ASSERT_EQ(holder.line(), "held");
        EXPECT_EQ(run_here({"run", "-n", name, "--", "true"}).status, 1);
        EXPECT_EQ(run_here({"wait", "-w", "0", name}).status, 1);
        holder.close_stdin();
        EXPECT_EQ(holder.end().status, 0);
        EXPECT_EQ(run_here({"wait", "-w", "10", name}).status, 0);
        EXPECT_EQ(run_here({"inspect", name}).status, 1);
    }

    void who_holds_it_is_told() {
        program holder{until_closed(), url()};
        ASSERT_EQ(holder.line(), "held");
        const boost::json::value lock = told_of({"inspect", "--json", name});
        EXPECT_TRUE(lock.at("held").as_bool()) << lock;
        EXPECT_GT(lock.at("token").to_number<std::uint64_t>(), 0U) << "each grant has one here";
        EXPECT_EQ(lock.at("last_token"), lock.at("token"));
        const boost::json::value& owner = lock.at("owners").at(0);
        EXPECT_TRUE(owner.at("is_holdfast").as_bool());
        EXPECT_EQ(owner.at("client").at("label").as_string(), "sh") << lock;
        EXPECT_THAT(run_here({"inspect", name}).out, ::testing::HasSubstr("held by"));
        const boost::json::value list = told_of({"ls", "--json", name});
        ASSERT_EQ(list.at("locks").as_array().size(), 1U) << list;
        EXPECT_EQ(list.at("locks").at(0).at("name").as_string(), name);
        EXPECT_THAT(run_here({"ls"}).out, ::testing::HasSubstr(name));
    }

    void top_lists_held_locks_without_times() {
        program holder{until_closed(), url()};
        ASSERT_EQ(holder.line(), "held");
        const boost::json::value told = told_of({"top", "--json", "--count", "1", name});
        ASSERT_EQ(told.at("locks").as_array().size(), 1U) << told;
        const boost::json::value& lock = told.at("locks").at(0);
        EXPECT_EQ(lock.at("name").as_string(), name);
        EXPECT_TRUE(lock.at("owners").at(0).at("held_ms").is_null());
        EXPECT_TRUE(told.at("requests").is_null());
        EXPECT_THAT(run_here({"top", name}).out, ::testing::HasSubstr(name));
        program first{{"run", "a first", "--", "sh", "-c", "echo held; read nothing"}, url()};
        ASSERT_EQ(first.line(), "held");
        EXPECT_THAT(run_here({"top", "--limit", "1", name}).out, ::testing::HasSubstr(name));
    }

    void a_lock_that_was_taken_away_is_lost() {
        program holder{until_closed(), url()};
        ASSERT_EQ(holder.line(), "held");
        EXPECT_EQ(run_here({"unlock", "--force", "--yes", name}).status, 0);
        EXPECT_EQ(holder.end().status, 75);
        EXPECT_EQ(run_here({"unlock", "--force", "--yes", name}).status, 1);
    }

    void readers_share_and_tokens_grow() {
        program reader{until_closed({"-s"}), url()};
        ASSERT_EQ(reader.line(), "held");
        EXPECT_EQ(run_here({"run", "-n", "-s", name, "--", "true"}).status, 0);
        EXPECT_EQ(run_here({"run", "-n", "-x", name, "--", "true"}).status, 1);
        const auto token = [&] {
            const ended told = run_here(
                {"run", "--fenced", name + "-fenced", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"});
            return std::stoull("0" + told.out);
        };
        const auto first = token();
        EXPECT_GT(token(), first);
        EXPECT_GT(first, 0U);
    }

    void slots_are_counted() {
        std::vector<std::string> in_a_slot = until_closed({"--slots", "1"});
        program first{in_a_slot, url()};
        ASSERT_EQ(first.line(), "held");
        EXPECT_EQ(run_here({"run", "-n", "--slots", "1", name, "--", "true"}).status, 1);
        EXPECT_EQ(run_here({"run", "-n", "--slots", "2", name, "--", "true"}).status, 65);
    }

    void names_have_no_prefix() {
        const std::string shops_url =
            url() + (url().find('?') == std::string::npos ? "?" : "&") + "prefix=shop%3A";
        program holder{until_closed(), shops_url};
        ASSERT_EQ(holder.line(), "held");
        EXPECT_EQ(run({"ls", "-1", name}, shops_url).out, name + "\n");
        const ended told = run({"inspect", "--json", name}, shops_url);
        EXPECT_EQ(told.status, 0);
        EXPECT_EQ(boost::json::parse(told.out).at("name").as_string(), name);
        EXPECT_EQ(run({"wait", "-w", "0", name}, shops_url).status, 1);
        EXPECT_EQ(run({"unlock", "--force", "--yes", name}, shops_url).status, 0);
    }

    void messages_do_not_ask_for_rights_or_name_cpp_options() {
        ASSERT_EQ(run_here({"run", "--slots", "2", name, "true"}).status, 0);
        EXPECT_THAT(run_here({"inspect", "--type", "permits", name}).out,
                    ::testing::HasSubstr("listening  not known: this store does not count them\n"));
        EXPECT_THAT(run_here({"inspect", name}).out,
                    ::testing::HasSubstr("holdfast inspect --type permits NAME"));
        EXPECT_THAT(run_here({"unlock", "--force", "--yes", name}).err,
                    ::testing::HasSubstr("'holdfast inspect --type permits'"));
        expect_refused({"unlock", "--force", "--yes", "--type", "token", name},
                       "this store has no token locks; Redis and Valkey have them");
        expect_refused({"run", "--replicas", "1", name + "-lock", "true"},
                       "holdfast: --replicas is 1; the store of this client does not wait");
    }

    void json_has_the_fields_of_the_help() { json_has_one_shape(url(), name); }

    void locks_are_measured_and_shown() {
        const boost::json::value measured = told_of({"bench", "-t", "100ms", "--json"});
        EXPECT_EQ(measured.at("measurements").as_array().size(), 3U) << measured;
        EXPECT_THAT(measured.at("server").as_string(),
                    ::testing::Not(::testing::HasSubstr("secret")));
        const ended demo = run_here({"demo"});
        EXPECT_EQ(demo.status, 0) << demo.out << demo.err;
        EXPECT_THAT(demo.out, ::testing::HasSubstr("no update was lost"));
    }

    void what_is_on_redis_alone_is_refused() {
        expect_refused({"run", "--spin", name, "--", "true"},
                       "no spin locks; Redis and Valkey have them");
        expect_refused({"run", "--rate", "1/1m", name, "--", "true"},
                       "no rate limiters; Redis and Valkey have them");
        expect_refused({"inspect", "--type", "semaphore", name},
                       "no semaphores without leases; Redis and Valkey have them");
    }
};

} // namespace holdfast::cli_test
