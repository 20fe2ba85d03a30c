// SPDX-License-Identifier: Apache-2.0

// redsync, spoken to in lines as all peers are (tests/interop/README.md).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const (
	defaultLease = time.Minute // it renews nothing
	retryDelay   = 100 * time.Millisecond
)

type part struct{ Client, Object, Name string }

type command struct {
	ID                                  int64
	Do                                  string
	Client, Actor, Object, Name, Method string
	Args                                []any
	Address                             string
	Over                                []part
}

// An actor does one thing after the other. What it holds is its own.
type actor struct {
	tasks chan command
	held  map[part]*redsync.Mutex
}

type peer struct {
	mutex    sync.Mutex // guards the maps, and the output
	clients  map[string]*redis.Client
	combined map[part][]part
	actors   map[string]*actor
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		takeTurns(os.Args[2:])
		return
	}
	all := peer{clients: map[string]*redis.Client{}, combined: map[part][]part{},
		actors: map[string]*actor{}}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var next command
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			panic(err)
		}
		if next.Do == "call" {
			all.actor(next.Actor).tasks <- next
		} else {
			result, err := all.obey(next)
			all.answer(next, result, err)
		}
	}
} // whoever commanded is gone

func (p *peer) actor(name string) *actor {
	found := p.actors[name]
	if found == nil {
		found = &actor{make(chan command, 100), map[part]*redsync.Mutex{}}
		p.actors[name] = found
		go func() {
			for next := range found.tasks {
				result, err := p.call(found, next)
				p.answer(next, result, err)
			}
		}()
	}
	return found
}

func (p *peer) obey(c command) (any, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch c.Do {
	case "connect":
		how, err := redis.ParseURL(c.Address)
		if err != nil {
			return nil, err
		}
		how.MaxRetries = -1
		how.DialTimeout = time.Second
		p.clients[c.Client] = redis.NewClient(how)
		return version(), nil
	case "close":
		err := p.clients[c.Client].Close()
		delete(p.clients, c.Client)
		return nil, err
	case "combine":
		p.combined[part{c.Client, c.Object, c.Name}] = c.Over
		return nil, nil
	}
	return nil, fmt.Errorf("no %s here", c.Do)
}

func version() string {
	if built, known := debug.ReadBuildInfo(); known {
		for _, each := range built.Deps {
			if each.Path == "github.com/go-redsync/redsync/v4" {
				return strings.TrimPrefix(each.Version, "v")
			}
		}
	}
	return ""
}

func (p *peer) call(by *actor, c command) (any, error) {
	which := part{c.Client, c.Object, c.Name}
	lengths := durations(c.Args)
	switch c.Method {
	case "lock":
		return p.take(by, which, time.Hour, lease(lengths, 0))
	case "tryLock":
		patience := time.Duration(0)
		if len(lengths) > 0 {
			patience = lengths[0]
		}
		return p.take(by, which, patience, lease(lengths, 1))
	case "unlock":
		return nil, release(by, which)
	}
	return nil, fmt.Errorf("no %s here", c.Method)
}

func durations(args []any) []time.Duration {
	var all []time.Duration
	for _, each := range args {
		if number, is := each.(float64); is {
			all = append(all, time.Duration(number)*time.Millisecond)
		}
	}
	return all
}

func lease(lengths []time.Duration, at int) time.Duration {
	if len(lengths) > at {
		return lengths[at]
	}
	return defaultLease
}

func (p *peer) mutexOf(which part, patience, lease time.Duration) *redsync.Mutex {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	over := p.combined[which]
	if over == nil {
		over = []part{which}
	}
	var servers []pools.Pool
	for _, each := range over {
		servers = append(servers, goredis.NewPool(p.clients[each.Client]))
	}
	return redsync.New(servers...).NewMutex(over[0].Name, redsync.WithExpiry(lease),
		redsync.WithTries(1+int(patience/retryDelay)), redsync.WithRetryDelay(retryDelay))
}

func (p *peer) take(by *actor, which part, patience, lease time.Duration) (bool, error) {
	mutex := p.mutexOf(which, patience, lease)
	if err := mutex.Lock(); err != nil {
		var busy *redsync.ErrTaken
		var busyNode *redsync.ErrNodeTaken
		if errors.As(err, &busy) || errors.As(err, &busyNode) || err == redsync.ErrFailed {
			return false, nil
		}
		return false, err
	}
	by.held[which] = mutex
	return true, nil
}

func release(by *actor, which part) error {
	mutex := by.held[which]
	delete(by.held, which)
	if mutex == nil {
		return fmt.Errorf("not_held: nothing was taken")
	}
	if released, err := mutex.Unlock(); !released {
		return fmt.Errorf("not_held: %v", err)
	}
	return nil
}

func (p *peer) answer(c command, result any, err error) {
	said := map[string]any{"id": c.ID, "result": result}
	if err != nil {
		said = map[string]any{"id": c.ID, "error": err.Error()}
	}
	line, _ := json.Marshal(said)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	fmt.Println(string(line))
}
