// SPDX-License-Identifier: Apache-2.0
#include "net/attempt.hpp"

#include <exception>

namespace holdfast::net {

std::function<void()> give_up(byte_stream& line, duration patience) {
    return [&line, patience] {
        line.cut({errc::unreachable, "not done within " + std::to_string(patience.count()) +
                                         " ms (" + line.occupation() + ")"});
    };
}

failure trouble_of_attempt() {
    try {
        throw;
    } catch (const failure& why) {
        const bool unsure = why.code() == errc::outcome_unknown;
        return {unsure ? make_error_code(errc::unreachable) : why.code(), why.text()};
    } catch (const std::exception& why) {
        return {errc::unreachable, why.what()};
    } catch (...) {
        return {errc::unreachable, "an exception that is no std::exception"};
    }
}

failure no_connection(const std::string& address, const failure& why) {
    return {why.code(), "no connection to " + address + ": " + why.text()};
}

} // namespace holdfast::net
