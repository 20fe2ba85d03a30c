// SPDX-License-Identifier: Apache-2.0
#include "redis/mutants.hpp"

#ifdef HOLDFAST_MUTANTS
namespace holdfast::redis {
mutant planted_mutant = mutant::none;
} // namespace holdfast::redis
#endif
