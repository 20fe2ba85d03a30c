// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/wire/classify.hpp"

#include <ostream>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::HasSubstr;

struct meaning {
    std::int32_t error;
    error_code code;
    errc in_short;
};
void PrintTo(const meaning& one, std::ostream* out) {
    *out << one.error;
}

class ZookeeperError : public ::testing::TestWithParam<meaning> {};

TEST_P(ZookeeperError, MeansWhatACallerCanActOn) {
    const net::failure why = failure_of(GetParam().error, "the creation of /x");
    EXPECT_EQ(why.code(), GetParam().code);
    EXPECT_EQ(why.code(), GetParam().in_short);
    EXPECT_THAT(why.text(), HasSubstr("(" + std::to_string(GetParam().error) + ")"));
    EXPECT_THAT(why.text(), HasSubstr("the creation of /x"));
}

INSTANTIATE_TEST_SUITE_P(
    All, ZookeeperError,
    ::testing::Values(meaning{-4, make_error_code(errc::outcome_unknown), errc::outcome_unknown},
                      meaning{-7, make_error_code(errc::outcome_unknown), errc::outcome_unknown},
                      meaning{-102, make_error_code(store_errc::no_permission), errc::refused},
                      meaning{-108, make_error_code(store_errc::wrong_type), errc::refused},
                      meaning{-112, make_error_code(errc::unreachable), errc::unreachable},
                      meaning{-114, make_error_code(store_errc::not_authenticated), errc::refused},
                      meaning{-115, make_error_code(store_errc::not_authenticated), errc::refused},
                      meaning{-118, make_error_code(errc::unreachable), errc::unreachable},
                      meaning{-119, make_error_code(store_errc::read_only), errc::unreachable},
                      meaning{-120, make_error_code(store_errc::unfit), errc::refused},
                      meaning{-124, make_error_code(store_errc::not_authenticated), errc::refused},
                      meaning{-125, make_error_code(store_errc::out_of_memory), errc::refused},
                      meaning{-127, make_error_code(store_errc::try_again), errc::unreachable},
                      meaning{-1, make_error_code(store_errc::other), errc::refused},
                      meaning{12345, make_error_code(store_errc::other), errc::refused}));

} // namespace
} // namespace holdfast::zookeeper
