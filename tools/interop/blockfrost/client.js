// Usage: node client.js URL FIRST LAST STEP
//
// Walks over the blocks from FIRST to LAST of a server of Blockfrost's API and over what they contain. Every answer must
// have the schema of Blockfrost's OpenAPI document. blockfrost-js and the Blockfrost provider of Lucid Evolution must
// return what the server answers. Prints the number of requests by endpoint, and the faults.
'use strict';

const Ajv = require('ajv');
const { BlockFrostAPI } = require('@blockfrost/blockfrost-js');
const schemas = require('@blockfrost/openapi/json-schema.json');

// ajv does not know nullable without a type, with which the document allows any value, and its lists
// of values lack null.
(function clean(schema) {
  if (schema && typeof schema === 'object') {
    if (schema.nullable !== undefined && schema.type === undefined) delete schema.nullable;
    if (schema.nullable && Array.isArray(schema.enum)) schema.enum.push(null);
    Object.values(schema).forEach(clean);
  }
})(schemas);

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const validators = new Map();
const counts = {};
const faults = [];

function validate(endpoint, status, body) {
  const key = `${endpoint} ${status}`;
  if (!validators.has(key)) {
    const schema = schemas[endpoint].response[status];
    validators.set(key, schema ? ajv.compile(schema) : null);
  }
  const check = validators.get(key);
  if (!check && status !== 501) faults.push(`${key}: the document has no such status`);
  if (check && !check(body)) faults.push(`${key}: ${ajv.errorsText(check.errors)}: ${JSON.stringify(body).slice(0, 300)}`);
}

async function main(url, first, last, step) {
  // ask requests an endpoint with the variable parts of its path.
  async function ask(endpoint, ...args) {
    const path = endpoint.replace(/\{[^}]*\}/g, () => args.shift());
    const response = await fetch(url + path);
    const body = await response.json();
    counts[endpoint] = (counts[endpoint] || 0) + 1;
    validate(endpoint, response.status, body);
    return response.status === 200 ? body : null;
  }
  const api = new BlockFrostAPI({ customBackend: url, rateLimiter: false });
  // same compares what a client returns with an answer of the server.
  async function same(what, promise, want) {
    const got = await promise;
    if (JSON.stringify(got) !== JSON.stringify(want)) {
      faults.push(`${what}: ${JSON.stringify(got).slice(0, 300)}, expected ${JSON.stringify(want).slice(0, 300)}`);
    }
  }
  const addresses = new Set(), accounts = new Set(), assets = new Set(), scripts = new Set(), datums = new Set();
  for (const endpoint of Object.keys(schemas).filter((path) => !path.includes('{') && !path.startsWith('/ipfs') &&
    !path.startsWith('/tx/') && !path.startsWith('/utils'))) {
    await ask(endpoint);
  }
  for (let height = first; height <= last; height += step) {
    const block = await ask('/blocks/{hash_or_number}', height);
    await same(`block ${height}`, api.blocks(height), block);
    for (const part of ['next', 'previous', 'txs', 'txs/cbor', 'addresses']) {
      await ask(`/blocks/{hash_or_number}/${part}`, block.hash);
    }
    await ask('/blocks/slot/{slot_number}', block.slot);
    await ask('/blocks/epoch/{epoch_number}/slot/{slot_number}', block.epoch, block.epoch_slot);
    for (const hash of await api.blocksTxsAll(block.hash)) {
      await same(`transaction ${hash}`, api.txs(hash), await ask('/txs/{hash}', hash));
      const utxos = await ask('/txs/{hash}/utxos', hash);
      await same(`outputs of ${hash}`, api.txsUtxos(hash), utxos);
      for (const part of ['stakes', 'delegations', 'withdrawals', 'mirs', 'pool_retires', 'metadata', 'metadata/cbor',
        'redeemers', 'required_signers', 'cbor']) {
        await ask(`/txs/{hash}/${part}`, hash);
      }
      for (const o of [...utxos.inputs, ...utxos.outputs]) {
        addresses.add(o.address);
        o.amount.slice(1).forEach((a) => assets.add(a.unit));
        if (o.data_hash && o.inline_datum) datums.add(o.data_hash);
        if (o.reference_script_hash) scripts.add(o.reference_script_hash);
      }
    }
  }
  const { Blockfrost } = await import('@lucid-evolution/provider');
  const lucid = new Blockfrost(url, 'key');
  const some = (set) => [...set].filter((_, i) => i % Math.ceil(set.size / 40) === 0);
  for (const address of some(addresses)) {
    const about = await ask('/addresses/{address}', address);
    await same(`address ${address}`, api.addresses(address), about);
    if (about.stake_address) accounts.add(about.stake_address);
    for (const part of ['total', 'txs', 'transactions', 'utxos']) {
      await ask(`/addresses/{address}/${part}`, address);
    }
    const utxos = await api.addressesUtxosAll(address);
    const theirs = await lucid.getUtxos(address);
    await same(`Lucid's outputs of ${address}`, theirs.map((u) => `${u.txHash}#${u.outputIndex} ${u.assets.lovelace}`),
      utxos.map((u) => `${u.tx_hash}#${u.output_index} ${u.amount[0].quantity}`));
    const asset = utxos.flatMap((u) => u.amount).find((a) => a.unit !== 'lovelace');
    if (asset) await ask('/addresses/{address}/utxos/{asset}', address, asset.unit);
  }
  for (const account of some(accounts)) {
    await ask('/accounts/{stake_address}', account);
    for (const part of ['addresses', 'addresses/assets', 'addresses/total', 'utxos', 'transactions']) {
      await ask(`/accounts/{stake_address}/${part}`, account);
    }
  }
  for (const asset of some(assets)) {
    await same(`asset ${asset}`, api.assetsById(asset), await ask('/assets/{asset}', asset));
    for (const part of ['history', 'txs', 'transactions', 'addresses', 'utxos']) await ask(`/assets/{asset}/${part}`, asset);
    await ask('/assets/policy/{policy_id}', asset.slice(0, 56));
    await ask('/scripts/{script_hash}', asset.slice(0, 56));
    await ask('/scripts/{script_hash}/json', asset.slice(0, 56));
  }
  for (const hash of some(datums)) {
    await ask('/scripts/datum/{datum_hash}', hash);
    await same(`datum ${hash}`, lucid.getDatum(hash), (await ask('/scripts/datum/{datum_hash}/cbor', hash)).cbor);
  }
  for (const hash of some(scripts)) {
    for (const part of ['', '/json', '/cbor', '/utxos']) await ask(`/scripts/{script_hash}${part}`, hash);
  }
  const labels = await ask('/metadata/txs/labels');
  await same('labels', api.metadataTxsLabels(), labels);
  for (const { label } of labels) {
    await same(`label ${label}`, api.metadataTxsLabel(label), await ask('/metadata/txs/labels/{label}', label));
    await ask('/metadata/txs/labels/{label}/cbor', label);
  }
  const epoch = (await api.blocksLatest()).epoch;
  await ask('/epochs/{number}/blocks', epoch);
  console.log(JSON.stringify({ counts, faults }));
}

const [url, ...numbers] = process.argv.slice(2);
main(url, ...numbers.map(Number)).catch((err) => {
  console.error(err);
  process.exit(1);
});
