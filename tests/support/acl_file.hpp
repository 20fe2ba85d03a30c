// SPDX-License-Identifier: Apache-2.0
// Rules of docs/security for a user, as an operator gives them to a server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

/// Returns the rules in an ACL file for names that begin with `prefix`.
std::vector<std::string> rules_of_acl_file(std::string_view prefix,
                                           std::string_view file = "holdfast.acl");

/// Returns the command ACL SETUSER for `user`, with this password and exactly these rules.
std::vector<std::string> acl_setuser(std::string user, std::string password,
                                     const std::vector<std::string>& rules);

} // namespace holdfast::support
