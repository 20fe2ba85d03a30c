// SPDX-License-Identifier: Apache-2.0
// What the verbs share that ask about locks and take none.
#pragma once

#include "cli/command_line.hpp"
#include "cli/inheritance.hpp"
#include "cli/last_words.hpp"
#include "cli/output.hpp"
#include "cli/reaching.hpp"

#include <holdfast/client.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cli {

struct look_options {
    bool json = false;
    std::optional<std::string> url;
    std::string name;
};

/// Throws `usage_error`: it was left out.
void require_name(const look_options&, std::string_view verb);

/// Asks the server by `look(client)`, which prints and answers the exit status.
template <typename Look>
int ask_server(const inheritance& inherited, const look_options& given, Look look) {
    const std::string url = server_url(given.url);
    end_with_reader(inherited);
    try {
        holdfast::client home{reaching(url)};
        return after_output(look(home));
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, url, "did not answer");
    }
}

} // namespace cli
