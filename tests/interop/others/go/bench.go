// SPDX-License-Identifier: Apache-2.0

// The other thing that this program can do: take turns in ./dev bench, as bench/redisson does.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const leaseOfBench = 30 * time.Second // as long as holdfast's

// A line is `quorum <callers> <nanoseconds>`, and is answered by `<done> <elapsed> <sample>...`, or
// `failed <why>` (bench/figures/samples.hpp). The clients and redsync are as they come: nothing is set
// but the addresses and the lease.
func takeTurns(addresses []string) {
	var servers []pools.Pool
	for _, each := range addresses {
		how, err := redis.ParseURL(each)
		if err != nil {
			panic(err)
		}
		servers = append(servers, goredis.NewPool(redis.NewClient(how)))
	}
	algorithm := redsync.New(servers...)
	fmt.Println("redsync " + version())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(turn(algorithm, strings.Fields(lines.Text())))
	}
} // whoever commanded is gone

func turn(algorithm *redsync.Redsync, words []string) string {
	if len(words) != 3 || words[0] != "quorum" {
		return "failed this is no turn: " + strings.Join(words, " ")
	}
	callers, _ := strconv.Atoi(words[1])
	length, _ := strconv.ParseInt(words[2], 10, 64)
	samples := make([][]time.Duration, callers)
	failures := make([]error, callers)
	var all sync.WaitGroup
	began := time.Now()
	end := began.Add(time.Duration(length))
	for i := 0; i < callers; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			lock := algorithm.NewMutex(fmt.Sprintf("bench:%d", i), redsync.WithExpiry(leaseOfBench))
			samples[i], failures[i] = pairsUntil(end, lock)
		}(i)
	}
	all.Wait()
	elapsed := time.Since(began)
	for _, err := range failures {
		if err != nil {
			return "failed " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
	}
	return tally(elapsed, samples)
}

func pairsUntil(end time.Time, lock *redsync.Mutex) ([]time.Duration, error) {
	var samples []time.Duration
	for now := time.Now(); now.Before(end); {
		if err := lock.Lock(); err != nil {
			return nil, err
		}
		if released, err := lock.Unlock(); !released {
			return nil, fmt.Errorf("not released: %v", err)
		}
		before := now
		now = time.Now()
		samples = append(samples, now.Sub(before))
	}
	return samples, nil
}

func tally(elapsed time.Duration, samples [][]time.Duration) string {
	done := 0
	var line strings.Builder
	for _, some := range samples {
		done += len(some)
		for _, each := range some {
			fmt.Fprintf(&line, " %d", each.Nanoseconds())
		}
	}
	return fmt.Sprintf("%d %d", done, elapsed.Nanoseconds()) + line.String()
}
