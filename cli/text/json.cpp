// SPDX-License-Identifier: Apache-2.0
// Boost.JSON without its library: its sources, once.
#include <boost/json/src.hpp>
