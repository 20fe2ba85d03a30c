// SPDX-License-Identifier: Apache-2.0
// Boost.JSON is used as headers alone, and this is the one file that compiles its inside.
#include <boost/json/src.hpp>
