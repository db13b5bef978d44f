// Usage: node --experimental-websocket ogmios.js URL TRANSACTION
//
// Submits a transaction, in hex, with Mesh's provider of Ogmios. Prints its hash, and what is wrong with refusals.
'use strict';

const { OgmiosProvider } = require('@meshsdk/provider');

async function main(url, transaction) {
  const ogmios = new OgmiosProvider(url);
  const faults = [];
  const hash = await ogmios.submitTx(transaction);
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
