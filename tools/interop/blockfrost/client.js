// Usage: node client.js URL FIRST LAST STEP TRANSACTION TRANSACTION TRANSACTION
//
// Walks over the blocks from FIRST to LAST of a server of Blockfrost's API and over what they contain. Every answer
// must have the schema of Blockfrost's OpenAPI document. blockfrost-js and the Blockfrost providers of Lucid Evolution
// and Mesh must return the server's answers. Each of the three submits one of the transactions, in hex. Prints the
// number of requests by endpoint, and the faults.
'use strict';

const Ajv = require('ajv');
const { BlockFrostAPI, deriveAddress } = require('@blockfrost/blockfrost-js');
const { Blockfrost } = require('@lucid-evolution/provider');
const { BlockfrostProvider } = require('@meshsdk/provider');
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
const unreached = []; // operations that are answered, of which the walk has seen no answer

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

async function main(url, first, last, step, transactions) {
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
  const lucid = new Blockfrost(url, 'key');
  const mesh = new BlockfrostProvider(url);
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
    const { hash, slotLeader, txCount, VRFKey } = await mesh.fetchBlockInfo(block.hash);
    await same(`Mesh's block ${height}`, [hash, slotLeader, txCount, VRFKey],
      [block.hash, block.slot_leader, block.tx_count, block.block_vrf]);
    for (const part of ['next', 'previous', 'txs', 'txs/cbor', 'addresses']) {
      await ask(`/blocks/{hash_or_number}/${part}`, block.hash);
    }
    await ask('/blocks/slot/{slot_number}', block.slot);
    await ask('/blocks/epoch/{epoch_number}/slot/{slot_number}', block.epoch, block.epoch_slot);
    for (const hash of await api.blocksTxsAll(block.hash)) {
      const tx = await ask('/txs/{hash}', hash);
      await same(`transaction ${hash}`, api.txs(hash), tx);
      const { block: inBlock, fees, size, deposit } = await mesh.fetchTxInfo(hash);
      await same(`Mesh's transaction ${hash}`, [inBlock, fees, size, deposit], [tx.block, tx.fees, tx.size, tx.deposit]);
      const utxos = await ask('/txs/{hash}/utxos', hash);
      await same(`outputs of ${hash}`, api.txsUtxos(hash), utxos);
      const returned = (o) => [hash, o.output_index, o.address, o.amount, o.inline_datum || undefined];
      await same(`Mesh's outputs of ${hash}`, (await mesh.fetchUTxOs(hash)).map(meshOutput), utxos.outputs.map(returned));
      for (const part of ['stakes', 'delegations', 'withdrawals', 'mirs', 'pool_updates', 'pool_retires', 'metadata', 'metadata/cbor',
        'redeemers', 'required_signers', 'cbor']) {
        const answer = await ask(`/txs/{hash}/${part}`, hash);
        if (part === 'redeemers' && answer) answer.forEach((r) => scripts.add(r.script_hash));
      }
      for (const o of [...utxos.inputs, ...utxos.outputs]) {
        addresses.add(o.address);
        o.amount.slice(1).forEach((a) => assets.add(a.unit));
        if (o.data_hash && o.inline_datum) datums.add(o.data_hash);
        if (o.reference_script_hash) scripts.add(o.reference_script_hash);
      }
    }
  }
  const some = (set) => [...set].filter((_, i) => i % Math.ceil(set.size / 40) === 0);
  for (const address of some(addresses)) {
    const about = await ask('/addresses/{address}', address);
    await same(`address ${address}`, api.addresses(address), about);
    if (about.stake_address) accounts.add(about.stake_address);
    for (const part of ['total', 'txs', 'transactions', 'utxos', 'extended']) {
      await ask(`/addresses/{address}/${part}`, address);
    }
    const utxos = await api.addressesUtxosAll(address);
    if (utxos.length <= 20) { // it pauses for half a second after ten outputs
      const theirs = await lucid.getUtxos(address);
      await same(`Lucid's outputs of ${address}`, theirs.map((u) => `${u.txHash}#${u.outputIndex} ${u.assets.lovelace}`),
        utxos.map((u) => `${u.tx_hash}#${u.output_index} ${u.amount[0].quantity}`));
    }
    await same(`Mesh's outputs of ${address}`, (await mesh.fetchAddressUTxOs(address)).map(meshOutput),
      utxos.map((u) => [u.tx_hash, u.output_index, u.address, u.amount, u.inline_datum || undefined]));
    await same(`Mesh's transactions of ${address}`, (await mesh.fetchAddressTransactions(address)).map((tx) => tx.hash),
      (await ask('/addresses/{address}/transactions', address)).map((tx) => tx.tx_hash));
    const asset = utxos.flatMap((u) => u.amount).find((a) => a.unit !== 'lovelace');
    if (asset) await ask('/addresses/{address}/utxos/{asset}', address, asset.unit);
  }
  for (const account of some(accounts)) {
    await ask('/accounts/{stake_address}', account);
    for (const part of ['addresses', 'addresses/assets', 'addresses/total', 'utxos', 'transactions', 'delegations',
      'registrations', 'withdrawals', 'mirs']) {
      await ask(`/accounts/{stake_address}/${part}`, account);
    }
  }
  for (const asset of some(assets)) {
    const about = await ask('/assets/{asset}', asset);
    await same(`asset ${asset}`, api.assetsById(asset), about);
    const { fingerprint, totalSupply, mintingTxHash } = await mesh.fetchAssetMetadata(asset);
    await same(`Mesh's asset ${asset}`, [fingerprint, totalSupply, mintingTxHash],
      [about.fingerprint, about.quantity, about.initial_mint_tx_hash]);
    await same(`Mesh's holders of ${asset}`, mesh.fetchAssetAddresses(asset), await ask('/assets/{asset}/addresses', asset));
    await same(`Mesh's assets of ${asset}`, mesh.fetchCollectionAssets(asset.slice(0, 56)).then((c) => c.assets.length),
      (await ask('/assets/policy/{policy_id}', asset.slice(0, 56))).length);
    for (const part of ['history', 'txs', 'transactions', 'addresses', 'utxos']) await ask(`/assets/{asset}/${part}`, asset);
    await ask('/scripts/{script_hash}', asset.slice(0, 56));
    await ask('/scripts/{script_hash}/json', asset.slice(0, 56));
  }
  for (const hash of some(datums)) {
    await ask('/scripts/datum/{datum_hash}', hash);
    await same(`datum ${hash}`, lucid.getDatum(hash), (await ask('/scripts/datum/{datum_hash}/cbor', hash)).cbor);
  }
  for (const hash of some(scripts)) {
    for (const part of ['', '/json', '/cbor', '/utxos', '/redeemers']) await ask(`/scripts/{script_hash}${part}`, hash);
  }
  const pools = await ask('/pools');
  await same('pools', api.pools(), pools);
  for (const pool of pools.slice(0, 20)) {
    for (const part of ['metadata', 'relays', 'updates', 'votes']) await ask(`/pools/{pool_id}/${part}`, pool);
  }
  const labels = await ask('/metadata/txs/labels');
  await same('labels', api.metadataTxsLabels(), labels);
  for (const { label } of labels) {
    await same(`label ${label}`, api.metadataTxsLabel(label), await ask('/metadata/txs/labels/{label}', label));
    await ask('/metadata/txs/labels/{label}/cbor', label);
  }
  const latest = await api.blocksLatest(), { epoch } = latest;
  await same('epoch', api.epochsLatest(), await ask('/epochs/{number}', epoch));
  await ask('/epochs/{number}/next', Math.max(epoch - 2, 0));
  await ask('/epochs/{number}/previous', epoch);
  await ask('/epochs/{number}/blocks', epoch);
  await ask('/epochs/{number}/blocks/{pool_id}', epoch, latest.slot_leader);
  await derived(ask);
  await governance(url, ask);
  await throughTheNode({ api, lucid, mesh, ask, same, account: [...accounts][0] }, transactions);
  await rest(url);
  console.log(JSON.stringify({ counts, faults, unreached }));
}

// derived compares addresses of an extended public key with the addresses that blockfrost-js derives.
async function derived(ask) {
  const xpub = '7ec9738746cb4708df52a455b43aa3fdee8955abaf37f68ffc79bb84fbf9e1b39d77e2deb9749faf890ff8326d350ed3fd0e4aa271b35cad063692af87102152';
  for (const [role, index] of [[0, 0], [0, 1], [1, 5], [2, 0], [2, 3], [0, 2147483647]]) {
    const { address } = await ask('/utils/addresses/xpub/{xpub}/{role}/{index}', xpub, role, index);
    const want = deriveAddress(xpub, role, index, 'preview').address;
    if (address !== want) faults.push(`address ${role}/${index}: ${address}, expected ${want}`);
  }
}

// governance requests the lists of proposals, DReps and committee members, whose ids are in the transactions of /v1.
async function governance(url, ask) {
  const { origin } = new URL(url);
  const { chains } = await (await fetch(`${origin}/v1`)).json();
  const proposals = await ask('/governance/proposals');
  for (const { id, tx_hash, cert_index } of proposals) {
    for (const part of ['withdrawals', 'parameters']) {
      await ask(`/governance/proposals/{tx_hash}/{cert_index}/${part}`, tx_hash, cert_index);
      await ask(`/governance/proposals/{gov_action_id}/${part}`, id);
    }
  }
  const found = await (await fetch(`${origin}/v1/${chains[0].name}/find/subject/reg_drep?limit=20`)).json();
  const dreps = new Set();
  for (const output of found.outputs) {
    const tx = await (await fetch(`${origin}/v1/${chains[0].name}/tx/${output.tx}`)).text();
    (tx.match(/drep1[a-z0-9]{50,}/g) || []).forEach((id) => dreps.add(id));
  }
  for (const id of dreps) {
    for (const part of ['updates', 'votes']) await ask(`/governance/dreps/{drep_id}/${part}`, id);
  }
  for (const { voter_hot_id } of await ask('/governance/committee/votes')) {
    await ask('/governance/committee/{cc_id}/votes', voter_hot_id);
  }
}

// rest requests the operations that the walk did not reach, with ids of nothing. An operation that is answered must have been validated:
// others are 501, and an answer that nothing exists must have the document's schema.
async function rest(url) {
  for (const endpoint of Object.keys(schemas)) {
    if (counts[endpoint] || endpoint.startsWith('/ipfs') || endpoint.startsWith('/tx/') || endpoint.includes('evaluate')) continue;
    const response = await fetch(url + endpoint.replace(/\{[^}]*\}/g, '0'));
    if (response.status !== 501) unreached.push(endpoint);
    validate(endpoint, response.status, await response.json());
  }
}

// meshOutput returns the parts of an output of Mesh that the server answers.
function meshOutput({ input, output }) {
  return [input.txHash, input.outputIndex, output.address, output.amount, output.plutusData];
}

// throughTheNode compares the answers that need the node: parameters, accounts, the mempool and submitting.
async function throughTheNode({ api, lucid, mesh, ask, same, account }, transactions) {
  const parameters = await ask('/epochs/latest/parameters');
  await same('parameters', api.epochsLatestParameters(), parameters);
  const theirs = parameters.drep_deposit && await lucid.getProtocolParameters(); // which must be of Conway
  if (theirs) await same("Lucid's parameters", [theirs.minFeeA, theirs.maxTxSize, `${theirs.keyDeposit}`, `${theirs.coinsPerUtxoByte}`],
    [parameters.min_fee_a, parameters.max_tx_size, parameters.key_deposit, parameters.coins_per_utxo_size]);
  const { minFeeA, priceMem, epoch, maxTxExSteps } = await mesh.fetchProtocolParameters();
  await same("Mesh's parameters", [minFeeA, priceMem, epoch, `${maxTxExSteps}`],
    [parameters.min_fee_a, parameters.price_mem, parameters.epoch, parameters.max_tx_ex_steps]);

  const state = await ask('/accounts/{stake_address}', account);
  await same('account', api.accounts(account), state);
  const delegation = await lucid.getDelegation(account);
  await same("Lucid's account", [delegation.poolId, `${delegation.rewards}`], [state.pool_id, state.withdrawable_amount]);
  const { poolId, rewards, balance } = await mesh.fetchAccountInfo(account);
  await same("Mesh's account", [poolId, rewards, balance], [state.pool_id, state.withdrawable_amount, state.controlled_amount]);

  const submit = [(tx) => api.txSubmit(tx), (tx) => lucid.submitTx(tx), (tx) => mesh.submitTx(tx)];
  for (const [i, tx] of transactions.entries()) {
    const hash = await submit[i](tx);
    const pending = await ask('/mempool/{hash}', hash);
    await same(`unconfirmed transaction ${hash}`, api.mempoolTx(hash), pending);
    await same(`unconfirmed transactions of ${hash}`, api.mempoolByAddressAll(pending.outputs[0].address),
      await ask('/mempool/addresses/{address}', pending.outputs[0].address));
    const all = await ask('/mempool');
    await same('mempool', api.mempoolAll(), all);
    if (!all.some((entry) => entry.tx_hash === hash)) faults.push(`${hash} was submitted and is not in the mempool`);
  }
  for (const send of submit) {
    if (await send('80').then(() => true, () => false)) faults.push('a malformed transaction was accepted');
  }
}

const [url, first, last, step, ...transactions] = process.argv.slice(2);
main(url, Number(first), Number(last), Number(step), transactions).catch((err) => {
  console.error(err);
  process.exit(1);
});
