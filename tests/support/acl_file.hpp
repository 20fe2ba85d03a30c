// SPDX-License-Identifier: Apache-2.0
// What docs/security has for a user, as an operator gives it to a server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

/// Its rules, for names that begin with `prefix`.
std::vector<std::string> rules_of_acl_file(std::string_view prefix,
                                           std::string_view file = "holdfast.acl");

/// ACL SETUSER … for `user`, with that password and exactly these rules.
std::vector<std::string> acl_setuser(std::string user, std::string password,
                                     const std::vector<std::string>& rules);

} // namespace holdfast::support
