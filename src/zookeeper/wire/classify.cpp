// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/wire/classify.hpp"

#include "zookeeper/wire/messages.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::zookeeper {
namespace {

struct known_error {
    std::int32_t number;
    error_code code;
    std::string_view words; ///< name in ZooKeeper's documentation, for operators
};

const auto& known_errors() {
    static const std::array all{
        known_error{-4, make_error_code(errc::outcome_unknown), "ConnectionLoss"},
        known_error{-6, make_error_code(store_errc::other), "Unimplemented"},
        known_error{-7, make_error_code(errc::outcome_unknown), "OperationTimeout"},
        known_error{-8, make_error_code(store_errc::other), "BadArguments"},
        known_error{-101, make_error_code(store_errc::not_set_up), "NoNode"},
        known_error{-102, make_error_code(store_errc::no_permission), "NoAuth"},
        known_error{-108, make_error_code(store_errc::wrong_type), "NoChildrenForEphemerals"},
        known_error{-112, make_error_code(errc::unreachable), "SessionExpired"},
        known_error{-114, make_error_code(store_errc::not_authenticated), "InvalidACL"},
        known_error{-115, make_error_code(store_errc::not_authenticated), "AuthFailed"},
        known_error{-118, make_error_code(errc::unreachable), "SessionMoved"},
        known_error{-119, make_error_code(store_errc::read_only), "NotReadOnly"},
        known_error{-120, make_error_code(store_errc::unfit), "EphemeralOnLocalSession"},
        known_error{-122, make_error_code(errc::outcome_unknown), "RequestTimeout"},
        known_error{-123, make_error_code(store_errc::try_again), "ReconfigInProgress"},
        known_error{-124, make_error_code(store_errc::not_authenticated),
                    "SessionClosedRequireSaslAuth"},
        known_error{-125, make_error_code(store_errc::out_of_memory), "QuotaExceeded"},
        known_error{-127, make_error_code(store_errc::try_again), "ThrottledOp"},
    };
    return all;
}

} // namespace

net::failure failure_of(std::int32_t error, std::string_view asked) {
    const auto& all = known_errors();
    const auto found = std::ranges::find(all, error, &known_error::number);
    const bool known = found != all.end();
    const std::string words = known ? std::string{found->words} : "error";
    return {known ? found->code : make_error_code(store_errc::other),
            words + " (" + std::to_string(error) + ") for " + std::string{asked}};
}

} // namespace holdfast::zookeeper
