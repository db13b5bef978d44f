// Answers questions about runes with @magiceden-oss/runestone-lib: one JSON object a line, and one answer a line.
//
//   {"decode": [SCRIPT, …]}   the message of a transaction with these output scripts in hex
//   {"encode": SPEC}          the script of a message
//   {"height": N, "network": NAME, "txs": […], "answer": true}   indexes a block, and returns what the index has
const {createInterface} = require('node:readline');
const {Network, RuneUpdater, encodeRunestone, tryDecodeRunestone} = require('@magiceden-oss/runestone-lib');

const etchings = new Map();  // by BLOCK:TX
const names = new Map();     // BLOCK:TX by name
const mints = new Map();     // by BLOCK:TX
const burned = new Map();    // by BLOCK:TX
const balances = new Map();  // by TXID:N
const outputs = new Map();   // {type, height} by TXID:N

const key = ({block, tx}) => `${block}:${tx}`;

const storage = {
  getEtching: async (id) => etchings.get(id) ?? null,
  getRuneLocation: async (name) => names.get(name) ?? null,
  getValidMintCount: async (id) => mints.get(id) ?? 0,
  getUtxoBalance: async (txid, vout) => balances.get(`${txid}:${vout}`) ?? [],
};

// The hash of a block is its height.
const rpc = {
  getrawtransaction: async ({txid}) => {
    const vout = [];
    let height = 0;
    for (let n = 0; outputs.has(`${txid}:${n}`); n++) {
      const output = outputs.get(`${txid}:${n}`);
      vout.push({scriptPubKey: {type: output.type}});
      height = output.height;
    }
    return {error: null, result: {vout, blockhash: height}};
  },
  getblock: async ({blockhash}) => ({error: null, result: {height: blockhash}}),
};

async function index({height, network, txs, answer}) {
  const updater = new RuneUpdater(Network[network], {height, hash: height, previousblockhash: '', time: 0}, false, storage, rpc);
  for (const [i, tx] of txs.entries()) {
    for (const [n, {scriptPubKey}] of tx.vout.entries()) {
      outputs.set(`${tx.txid}:${n}`, {type: scriptPubKey.type, height});
    }
    await updater.indexRunes(tx, i);
    // The library keeps only the last amount that a block burns of a rune: add up the amounts of its transactions.
    for (const {runeId, amount} of updater.burnedBalances) {
      burned.set(key(runeId), (burned.get(key(runeId)) ?? 0n) + amount);
    }
    updater._burnedBalancesByRuneLocation.clear();
  }
  for (const etching of updater.etchings) {
    etchings.set(key(etching.runeId), etching);
    names.set(etching.runeTicker, etching.runeId);
  }
  for (const {mint, count} of updater.mintCounts) {
    mints.set(key(mint), (mints.get(key(mint)) ?? 0) + count);
  }
  for (const balance of updater.utxoBalances) {
    const at = `${balance.txid}:${balance.vout}`;
    balances.set(at, [...(balances.get(at) ?? []), balance]);
  }
  for (const {txid, vout} of updater.spentBalances) {
    balances.delete(`${txid}:${vout}`);
  }
  if (!answer) {
    return {};
  }
  const runes = {};
  for (const [id, etching] of etchings) {
    runes[id] = {...etching, mints: mints.get(id) ?? 0, burned: burned.get(id) ?? 0n};
  }
  const held = {};
  for (const [at, list] of balances) {
    held[at] = list.map(({runeId, amount}) => [key(runeId), amount]);
  }
  return {runes, held};
}

// Numbers above 53 bits are texts that end in n.
const parse = (line) => JSON.parse(line, (_, x) => typeof x === 'string' && /^\d+n$/.test(x) ? BigInt(x.slice(0, -1)) : x);
const print = (x) => console.log(JSON.stringify(x, (_, x) => typeof x === 'bigint' ? x.toString() : x));

(async () => {
  for await (const line of createInterface({input: process.stdin})) {
    const question = parse(line);
    try {
      if (question.decode) {
        print({message: tryDecodeRunestone({vout: question.decode.map((hex) => ({scriptPubKey: {hex}}))})});
      } else if (question.encode) {
        print({script: encodeRunestone(question.encode).encodedRunestone.toString('hex')});
      } else {
        print(await index(question));
      }
    } catch (e) {
      print({error: String(e.stack)});
    }
  }
})();
