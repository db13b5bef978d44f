// A bcoin full node on regtest, in memory, that takes its chain from one peer and serves it to others.
//
//   node peer.js LISTEN_PORT PEER_HOST:PORT
//
// Prints "listening", then "height N HASH" whenever its tip changed. Ends with its standard input.
'use strict';

const FullNode = require('bcoin/lib/node/fullnode');
const Network = require('bcoin/lib/protocol/network');

// Segwit is in force on regtest from the beginning with other nodes; bcoin would want 432 blocks that vote for it.
Object.assign(Network.get('regtest').deployments.segwit, {window: 1, threshold: 0});

const [port, peer] = process.argv.slice(2);

const node = new FullNode({
  network: 'regtest',
  memory: true,
  listen: true,
  host: '127.0.0.1',
  port: Number(port),
  publicHost: '127.0.0.1',
  httpHost: '127.0.0.1',
  httpPort: 0,
  noAuth: true,
  workers: false,
  only: [peer],
  logLevel: 'error'
});

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));

(async () => {
  await node.open();
  await node.connect();
  console.log('listening');
  node.startSync();
  node.chain.on('tip', tip => console.log('height %d %s', tip.height, tip.rhash()));
})().catch((err) => {
  console.error(err.stack);
  process.exit(1);
});
