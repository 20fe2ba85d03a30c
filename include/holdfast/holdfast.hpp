// SPDX-License-Identifier: Apache-2.0
// Includes the headers of the library, except those of two components: holdfast::testing
// (memory/server.hpp) and holdfast::mysql (mysql/*.hpp).
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/counters.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/credentials.hpp>
#include <holdfast/diagnosis.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/redis/options.hpp>
#include <holdfast/schemes.hpp>
#include <holdfast/secret.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/store.hpp>
#include <holdfast/ticket.hpp>
#include <holdfast/time.hpp>
#include <holdfast/tls.hpp>
#include <holdfast/token_mutex.hpp>
#include <holdfast/version.hpp>
#include <holdfast/wish.hpp>
#include <holdfast/zookeeper/options.hpp>
