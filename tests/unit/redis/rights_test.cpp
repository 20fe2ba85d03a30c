// SPDX-License-Identifier: Apache-2.0
#include "redis/wire/rights.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

constexpr script lock{"lock", "",
                      "-- first line\n"
                      "local t = redis.pcall('time')\n"
                      "redis.call('hset', KEYS[1], ARGV[2], '1')\n"
                      "if redis.call('pttl', KEYS[1]) < 1 then\n"
                      "    redis.pcall('time')\n"
                      "    redis.pcall('pexpire', KEYS[1], 1) end"};
constexpr std::string_view keys[] = {"app:k"};

std::string missing(std::string_view error) {
    return missing_right(error, lock, keys);
}

TEST(MissingRight, IsTheCommandThatTheServerNames) {
    EXPECT_EQ(missing("NOPERM this user has no permissions to run the 'evalsha' command"),
              "+evalsha");
    EXPECT_EQ(missing("ERR ACL failure in script: User lk has no permissions to run the "
                      "'pexpire' command script: f_1, on @user_script:2."),
              "+pexpire");
    EXPECT_EQ(missing("NOPERM User lk has no permissions to run the 'client|setname' command"),
              "+client|setname");
    EXPECT_EQ(
        missing_right("NOPERM User lk has no permissions to run the 'subscribe' command", "app:ch"),
        "+subscribe");
}

TEST(MissingRight, IsReadFromTheScriptsLineWhereTheServerNamesOnlyThat) {
    EXPECT_EQ(missing("ERR The user executing the script can't run this command or subcommand "
                      "script: f_1, on @user_script:3."),
              "+hset");
    EXPECT_EQ(missing("ERR The user executing the script can't run this command or subcommand "
                      "script: f_1, on @user_script:4."),
              "+pttl");
    EXPECT_EQ(missing("ERR Error running script (call to f_1): @user_script:3: @user_script: 3: "
                      "The user executing the script can't run this command or subcommand"),
              "+hset");
}

TEST(MissingRight, IsOneOfThoseThatTheScriptHandsOnWhereTheServerNamesNothing) {
    EXPECT_EQ(missing("ERR The user executing the script can't run this command or subcommand"),
              "+time +pexpire");
}

TEST(MissingRight, IsTheKeyOrTheChannel) {
    EXPECT_EQ(missing("NOPERM this user has no permissions to access one of the keys used as "
                      "arguments"),
              "~app:k");
    EXPECT_EQ(missing("NOPERM No permissions to access a key"), "~app:k");
    EXPECT_EQ(missing("ERR ACL failure in script: No permissions to access a key script: f_1, on "
                      "@user_script:1."),
              "~app:k");
    EXPECT_EQ(missing("ERR The user executing the script can't access at least one of the keys "
                      "mentioned in the command arguments script: f_1, on @user_script:1."),
              "~app:k");
    EXPECT_EQ(missing_right("NOPERM this user has no permissions to access one of the channels "
                            "used as arguments",
                            "app:ch"),
              "&app:ch");
    EXPECT_EQ(missing_right("NOPERM No permissions to access a channel", "app:ch"), "&app:ch");
}

TEST(MissingRight, NamesAllKeysThatItMayBe) {
    constexpr std::string_view both[] = {"a", "b"};
    EXPECT_EQ(missing_right("NOPERM No permissions to access a key", lock, both), "~a ~b");
}

TEST(MissingRight, IsNothingWhereTheErrorIsAboutSomethingElse) {
    EXPECT_EQ(missing("WRONGTYPE Operation against a key"), "");
    EXPECT_EQ(missing_right("LOADING", "ch"), "");
    EXPECT_EQ(with_missing_right("LOADING", ""), "LOADING");
    EXPECT_EQ(with_missing_right("NOPERM", "+hset"), "NOPERM (to be granted: +hset)");
}

TEST(MissingRight, OfALineThatIsNotThereIsNothing) {
    for (const char* line : {"0", "7", "99999999999999999999", "x", ""})
        EXPECT_EQ(missing(std::string{"ERR The user executing the script can't run this command "
                                      "script: f_1, on @user_script:"} +
                          line)
                      .find("hset"),
                  std::string::npos)
            << line;
}

} // namespace
} // namespace holdfast::redis
