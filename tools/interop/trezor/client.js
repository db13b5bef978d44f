// Trezor Suite's connection to a server.
//
//   node client.js WORKER URL
//
// WORKER is blockbook or electrum. Reads one JSON array [method, parameters] a line and prints for each a line: an object
// with its result or its error. Notifications are lines with the key "event".
'use strict';

const readline = require('readline');
const BlockchainLink = require('@trezor/blockchain-link').default;

const [worker, url] = process.argv.slice(2);
const link = new BlockchainLink({
  name: 'REGTEST', // the Electrum worker takes the network from it
  worker: require(`@trezor/blockchain-link/lib/workers/${worker}`).default,
  server: [url],
  throttleBlockEvent: 0,
});
const print = (line) => process.stdout.write(JSON.stringify(line) + '\n');
link.on('block', (data) => print({event: 'block', data}));
link.on('notification', (data) => print({event: 'notification', data}));

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    const [method, parameters] = JSON.parse(line);
    try {
      print({result: (await link[method](parameters)) ?? null});
    } catch (error) {
      print({error: error.message});
    }
  }
  process.exit(0);
})();
