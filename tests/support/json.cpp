// SPDX-License-Identifier: Apache-2.0
// Compiles Boost.JSON from its headers, so that the tests need not link the Boost.JSON library.
#include <boost/json/src.hpp>
