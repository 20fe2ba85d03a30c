// SPDX-License-Identifier: Apache-2.0
// Compiles Boost.JSON from its headers, once, so that its library is not needed.
#include <boost/json/src.hpp>
