// SPDX-License-Identifier: Apache-2.0
// The other thing that this program can do: take turns in ./dev bench, as bench/redisson does.
'use strict';

const readline = require('readline');
const Redis = require('ioredis');
const Redlock = require('redlock');

const LEASE = 30000; // as long as holdfast's

const now = () => Number(process.hrtime.bigint());

async function pairsUntil(end, algorithm, name, samples) {
  for (let before = now(); before < end;) {
    const lock = await algorithm.lock(name, LEASE);
    await lock.unlock();
    const after = now();
    samples.push(after - before);
    before = after;
  }
}

async function turn(algorithm, words) {
  if (words.length !== 3 || words[0] !== 'quorum') throw new Error('this is no turn: ' + words);
  const [callers, length] = words.slice(1).map(Number);
  const samples = [];
  const began = now();
  await Promise.all(Array.from({length: callers}, (_, i) =>
    pairsUntil(began + length, algorithm, 'bench:' + i, samples)));
  return [samples.length, now() - began, ...samples].join(' ');
}

// A line is `quorum <callers> <nanoseconds>`, and is answered by `<done> <elapsed> <sample>...`, or
// `failed <why>` (bench/figures/samples.hpp). ioredis and node-redlock are as they come: nothing is set
// but the addresses and the lease, a client for each server.
module.exports = (addresses) => {
  const algorithm = new Redlock(addresses.map((each) => new Redis(each)));
  console.log('node-redlock ' + require('redlock/package.json').version);
  readline.createInterface({input: process.stdin}).on('line', (line) => {
    turn(algorithm, line.split(' ')).then(
      (told) => console.log(told),
      (failure) => console.log('failed ' + String(failure.message).replace(/\n/g, ' ')));
  }).on('close', () => process.exit(0)); // whoever commanded is gone
};
