// SPDX-License-Identifier: Apache-2.0
// node-redlock, spoken to in lines as all peers are (tests/interop/README.md).
'use strict';

const readline = require('readline');
const Redis = require('ioredis');
const Redlock = require('redlock');

const DEFAULT_LEASE = 60000; // it renews nothing
const RETRY_DELAY = 100;

const clients = new Map(); // by name
const nodes = new Map(); // of a lock of several: its servers' clients
const actors = new Map(); // what each does last: it does one thing after the other
const held = new Map(); // Redlock's own lock, by actor and lock

const key = (...words) => JSON.stringify(words);

// A server that is gone fails a call at once. As ioredis is by default the call would wait for its
// return, and node-redlock, which waits for all answers, with it.
function connect(command) {
  const client = new Redis(command.address, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1000,
    retryStrategy: () => 200,
  });
  client.on('error', () => {}); // told by the calls that fail
  clients.set(command.client, client);
  return new Promise((resolve, reject) => {
    client.once('ready', () => resolve(require('redlock/package.json').version));
    client.once('error', reject);
  });
}

function close(command) {
  clients.get(command.client).disconnect();
  clients.delete(command.client);
  return null;
}

function combine(command) {
  nodes.set(key(command.client, command.object, command.name),
    {over: command.over.map((part) => part.client), name: command.over[0].name});
  return null;
}

function lockOf(command) {
  const of = nodes.get(key(command.client, command.object, command.name)) ||
    {over: [command.client], name: command.name};
  const algorithm = new Redlock(of.over.map((client) => clients.get(client)),
    {retryCount: 0, driftFactor: 0.01});
  algorithm.on('clientError', () => {}); // a server that is gone
  return {algorithm, name: of.name};
}

// One attempt after the other, as node-redlock does it itself, but for so long and not so often.
async function take(command, patience, lease) {
  const {algorithm, name} = lockOf(command);
  const end = Date.now() + patience;
  for (;;) {
    try {
      const lock = await algorithm.lock(name, lease);
      held.set(key(command.actor, command.client, command.object, command.name), lock);
      return true;
    } catch (failure) {
      if (!(failure instanceof Redlock.LockError)) throw failure;
      if (Date.now() + RETRY_DELAY > end) return false;
    }
    await new Promise((later) => setTimeout(later, RETRY_DELAY));
  }
}

async function release(command) {
  const which = key(command.actor, command.client, command.object, command.name);
  const lock = held.get(which);
  if (!lock) throw new Error('not_held: nothing was taken');
  held.delete(which);
  try {
    await lock.unlock();
  } catch (failure) {
    throw new Error('not_held: ' + failure.message);
  }
  return null;
}

function call(command) {
  const lengths = (command.args || []).filter((word) => typeof word === 'number');
  switch (command.method) {
    case 'lock': return take(command, Infinity, lengths[0] || DEFAULT_LEASE);
    case 'tryLock': return take(command, lengths[0] || 0, lengths[1] || DEFAULT_LEASE);
    case 'unlock': return release(command);
    default: throw new Error('no ' + command.method + ' here');
  }
}

function obey(command) {
  switch (command.do) {
    case 'connect': return connect(command);
    case 'close': return close(command);
    case 'combine': return combine(command);
    case 'call': return call(command);
    default: throw new Error(command.do);
  }
}

async function answer(command) {
  const said = {id: command.id};
  try {
    said.result = await obey(command);
  } catch (failure) {
    said.error = failure.message;
  }
  process.stdout.write(JSON.stringify(said) + '\n');
}

function obeyAll() {
  readline.createInterface({input: process.stdin}).on('line', (line) => {
    const command = JSON.parse(line);
    const before = actors.get(command.actor) || Promise.resolve();
    actors.set(command.actor, command.actor ? before.then(() => answer(command)) : null);
    if (!command.actor) answer(command);
  }).on('close', () => process.exit(0)); // whoever commanded is gone
}

if (process.argv[2] === 'bench') require('./bench.js')(process.argv.slice(3));
else obeyAll();
