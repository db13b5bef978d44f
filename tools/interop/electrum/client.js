// Usage: node client.js HOST PORT SCRIPTHASH...
//
// Prints one line of JSON with what the server answers about scripts, in batches, and another line with the height of the
// next tip and the script whose status changes next.
'use strict';

const Client = require('@mempool/electrum-client');

async function main(host, port, scripts) {
  const client = new Client(Number(port), host, 'tcp', null, { onLog: () => {} });
  const changed = new Promise((resolve) => client.subscribe.on('blockchain.scripthash.subscribe', resolve));
  const moved = new Promise((resolve) => client.subscribe.on('blockchain.headers.subscribe', resolve));
  await client.initElectrum({ client: 'interop', version: '1.4' }, null);
  const tip = await client.blockchainHeaders_subscribe();
  const statuses = [];
  for (const script of scripts) {
    statuses.push(await client.blockchainScripthash_subscribe(script));
  }
  const results = (answers) => answers.map((a) => a.result);
  const histories = results(await client.blockchainScripthash_getHistoryBatch(scripts));
  const txids = histories.flat().map((entry) => entry.tx_hash);
  const first = histories.flat()[0];
  console.log(JSON.stringify({
    tip: tip.height,
    statuses,
    balances: results(await client.blockchainScripthash_getBalanceBatch(scripts)),
    histories,
    unspent: results(await client.blockchainScripthash_listunspentBatch(scripts)),
    raws: results(await client.blockchainTransaction_getBatch(txids)),
    verbose: (await client.blockchainTransaction_get(txids[0], true)).hex,
    merkle: await client.blockchainTransaction_getMerkle(first.tx_hash, first.height),
    genesis: (await client.server_features()).genesis_hash,
  }));
  const [[header], [script]] = await Promise.all([moved, changed]);
  console.log(JSON.stringify({ tip: header.height, script }));
  client.close();
  process.exit(0);
}

main(process.argv[2], process.argv[3], process.argv.slice(4)).catch((err) => {
  console.error(err);
  process.exit(1);
});
