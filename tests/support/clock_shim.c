/* SPDX-License-Identifier: Apache-2.0
 * LD_PRELOAD library for a server. It adds an offset from a shared file to the server's date, so
 * that a test can let leases expire without waiting. The monotonic clock does not change.
 *
 *     HOLDFAST_CLOCK_FILE  8 bytes: nanoseconds to add, signed, in the machine's byte order
 *
 * It does not call dlsym() or malloc(), because the server's allocator asks for the time before it
 * is ready. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* added;

__attribute__((constructor)) static void find_offset(void) {
    const char* path = getenv("HOLDFAST_CLOCK_FILE");
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void* shared = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED)
        added = shared;
}

static struct timespec shifted(void) {
    struct timespec real;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
    const int64_t all = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec + (added ? *added : 0);
    const struct timespec answer = {.tv_sec = all / 1000000000, .tv_nsec = all % 1000000000};
    return answer;
}

int clock_gettime(clockid_t which, struct timespec* answer) {
    if (which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, which, answer);
    *answer = shifted();
    return 0;
}

int gettimeofday(struct timeval* restrict answer, void* restrict zone) {
    (void)zone;
    const struct timespec now = shifted();
    answer->tv_sec = now.tv_sec;
    answer->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t* answer) {
    const time_t now = shifted().tv_sec;
    if (answer)
        *answer = now;
    return now;
}
