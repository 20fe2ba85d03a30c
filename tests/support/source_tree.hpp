// SPDX-License-Identifier: Apache-2.0
// Files of the source tree that tests read at run time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

// Functions that find files of the source tree at run time. A compiled-in path would make ccache
// useless across checkouts.

/// Returns the absolute path of a source file. `path` is relative to $HOLDFAST_SOURCE_DIR, or to
/// the nearest folder above this program or the working directory that contains `path`. Throws
/// `std::runtime_error` if there is none.
std::filesystem::path source_file(std::string_view path);

// ACL rules of docs/security, as an operator gives them to a server.

/// Returns the rules in an ACL file of docs/security, changed for names that begin with `prefix`.
std::vector<std::string> rules_of_acl_file(std::string_view prefix,
                                           std::string_view file = "holdfast.acl");

/// Returns the command ACL SETUSER for `user`, with this password and exactly these rules.
std::vector<std::string> acl_setuser(std::string user, std::string password,
                                     const std::vector<std::string>& rules);

} // namespace holdfast::support
