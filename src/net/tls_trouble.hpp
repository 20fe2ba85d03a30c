// SPDX-License-Identifier: Apache-2.0
// What OpenSSL's errors mean to a user, in words that say what to do.
#pragma once

#include "net/failure.hpp"

#include <string>

struct ssl_st;
struct x509_store_ctx_st;

namespace holdfast::net {

/// Why the verification that has just failed in there did.
std::string objection_of(x509_store_ctx_st&);

/// What OpenSSL has just reported of this session. `objection`: to the server's certificate, empty
/// if there was none.
failure trouble_of(const ssl_st&, const std::string& objection);

/// The first reason in OpenSSL's own words, a file that cannot be opened in the system's.
std::string first_reason();

} // namespace holdfast::net
