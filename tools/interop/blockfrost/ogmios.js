// Usage: node --experimental-websocket ogmios.js URL TRANSACTION
//
// Submits a transaction, in hex, with Mesh's provider of Ogmios, which follows the mempool meanwhile. Prints the hash, and
// faults in the rejections and in the first transaction of the mempool after the change.
'use strict';

const { OgmiosProvider } = require('@meshsdk/provider');

async function main(url, transaction) {
  const ogmios = new OgmiosProvider(url);
  const faults = [];
  const first = new Promise((resolve) => { ogmios.onNextTx(resolve); });
  await new Promise((resolve) => { setTimeout(resolve, 1000); }); // the provider waits for a change
  const hash = await ogmios.submitTx(transaction);
  const late = new Promise((resolve) => { setTimeout(resolve, 60_000, {}); });
  const { transaction: next } = await Promise.race([first, late]);
  if (!next || !/^[0-9a-f]{64}$/.test(next.id) || !next.outputs.length || !next.inputs.length) {
    faults.push(`the next transaction: ${JSON.stringify(next)}`);
  }
  const refusal = await ogmios.submitTx('80').then(() => null, (error) => error);
  if (!refusal || typeof refusal.code !== 'number' || !refusal.message) {
    faults.push(`a malformed transaction: ${JSON.stringify(refusal)}`);
  }
  if (await ogmios.evaluateTx(transaction).then(() => true, () => false)) faults.push('scripts were evaluated');
  console.log(JSON.stringify({ hash, faults }));
}

const [url, transaction] = process.argv.slice(2);
main(url, transaction).then(() => process.exit(0), (err) => { // the provider leaves connections of refusals open
  console.error(err);
  process.exit(1);
});
