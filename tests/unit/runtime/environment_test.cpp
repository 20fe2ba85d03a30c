// SPDX-License-Identifier: Apache-2.0
#include <holdfast/credentials.hpp>

#include <cstdlib>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

class Environment : public ::testing::Test {
protected:
    Environment() { clear(); }
    ~Environment() override { clear(); }
    static void clear() {
        ::unsetenv("HOLDFAST_USERNAME");
        ::unsetenv("HOLDFAST_PASSWORD");
    }
};

TEST_F(Environment, WithoutEitherVariableThereIsNoProvider) {
    EXPECT_FALSE(credentials_from_environment());
}

TEST_F(Environment, OneOfThemIsEnough) {
    ::setenv("HOLDFAST_PASSWORD", "hunter2", 1);
    EXPECT_EQ(credentials_from_environment()().password.reveal(), "hunter2");
    EXPECT_EQ(credentials_from_environment()().user, "");
    clear();
    ::setenv("HOLDFAST_USERNAME", "me", 1);
    EXPECT_EQ(credentials_from_environment()().user, "me");
    EXPECT_TRUE(credentials_from_environment()().password.empty());
}

TEST_F(Environment, IsReadOnceAndNotAtEachConnection) {
    ::setenv("HOLDFAST_PASSWORD", "hunter2", 1);
    const credential_provider provider = credentials_from_environment();
    clear();
    EXPECT_EQ(provider().password.reveal(), "hunter2");
    EXPECT_EQ(provider().password.reveal(), "hunter2");
}

} // namespace
} // namespace holdfast
