// Clients of the APIs of Ergo's node and explorer, and sigma-rust: asks both servers about one address, box, transaction
// and so on, recomputes every id from the bytes, and prints one JSON document.
//
//   node --import ./resolve.js apis.js NODE_URL EXPLORER_URL < QUESTIONS
//
// QUESTIONS is {"addresses": [], "boxes": [], "txs": [], "blocks": [], "tokens": [], "submit": TRANSACTION}. The document
// has "boxes", the ids by which sigma-rust names each box, beside those of the answers, "txs", likewise, "unread", what
// sigma-rust cannot read, "failed", the calls that failed, and "calls", the number of answers by the name of the call.
import fs from 'node:fs';
import nodeModule from '@rosen-clients/ergo-node';
import explorerModule from '@rosen-clients/ergo-explorer';
import {ErgoBox, Transaction} from 'ergo-lib-wasm-nodejs';

const [nodeURL, explorerURL] = process.argv.slice(2);
const node = (nodeModule.default ?? nodeModule)(nodeURL);
const explorer = (explorerModule.default ?? explorerModule)(explorerURL).v1;
const questions = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = {boxes: [], txs: [], unread: [], failed: [], calls: {}};

// Amounts may come as BigInt, which JSON does not know: as they are, without quotes.
const text = (value) => JSON.stringify(value, (_, v) => typeof v === 'bigint' ? `@${v}@` : v).replace(/"@(\d+)@"/g, '$1');

const box = (b) => {
  try {
    const made = ErgoBox.sigma_parse_bytes(ErgoBox.from_json(text(b)).sigma_serialize_bytes());
    out.boxes.push([b.boxId, made.box_id().to_str()]);
  } catch (e) {
    out.unread.push(`box ${b.boxId}: ${e}`);
  }
};

const tx = (t) => {
  try {
    const made = Transaction.sigma_parse_bytes(Transaction.from_json(text(t)).sigma_serialize_bytes());
    out.txs.push([t.id, made.id().to_str()]);
  } catch (e) {
    out.unread.push(`transaction ${t.id}: ${e}`);
  }
};

// call calls one operation of a client, and returns its answer.
const call = async (name, client, ...args) => {
  try {
    const answer = await client[name](...args);
    if (answer === undefined || typeof answer === 'string' && answer.startsWith('{')) throw new Error(`answer ${answer}`);
    out.calls[name] = (out.calls[name] ?? 0) + 1;
    return answer;
  } catch (e) {
    out.failed.push(`${name}(${text(args)}): ${e}${e.response ? ' ' + text(e.response.data) : ''}`);
  }
};

const page = {offset: 0, limit: 10};
await call('getNodeInfo', node);
await call('getIndexedHeight', node);
await call('getLastHeaders', node, 3);
for (const a of questions.addresses) {
  (await call('getBoxesByAddress', node, a, page))?.items.forEach(box);
  (await call('getBoxesByAddressUnspent', node, a, {...page, includeUnconfirmed: true}))?.forEach(box);
  await call('getTxsByAddress', node, a, page);
  await call('getAddressBalanceTotal', node, a);
  await call('getApiV1AddressesP1Transactions', explorer, a, page);
  await call('getApiV1AddressesP1BalanceConfirmed', explorer, a);
  await call('getApiV1AddressesP1BalanceTotal', explorer, a);
  (await call('getApiV1BoxesByaddressP1', explorer, a, page))?.items.forEach(box);
  (await call('getApiV1BoxesUnspentByaddressP1', explorer, a, page))?.items.forEach(box);
  await call('getApiV1BoxesUnspentUnconfirmedByaddressP1', explorer, a);
  await call('getApiV1MempoolTransactionsByaddressP1', explorer, a, page);
}
for (const id of questions.boxes) {
  const b = await call('getIndexedBoxById', node, id);
  if (b) box(b);
  const x = await call('getApiV1BoxesP1', explorer, id);
  if (x) box(x);
}
for (const id of questions.txs) {
  (await call('getTxById', node, id))?.outputs.forEach(box);
  (await call('getApiV1TransactionsP1', explorer, id))?.outputs.forEach(box);
}
for (const id of questions.blocks) {
  (await call('getBlockTransactionsById', node, id))?.transactions.forEach(tx);
  await call('getBlockHeaderById', node, id);
  await call('getFullBlockById', node, id);
  await call('getApiV1BlocksP1', explorer, id);
}
for (const id of questions.tokens) {
  await call('getTokenById', node, id);
  (await call('getBoxesByTokenId', node, id, page))?.items.forEach(box);
  (await call('getBoxesByTokenIdUnspent', node, id, page))?.forEach(box);
  await call('getApiV1TokensP1', explorer, id);
  (await call('getApiV1BoxesUnspentBytokenidP1', explorer, id, page))?.items.forEach(box);
}
await call('getApiV1Tokens', explorer, page);
await call('getApiV1Blocks', explorer, page);
await call('getApiV1Networkstate', explorer);
await call('getApiV1Info', explorer);
if (questions.submit) {
  await call('sendTransaction', node, questions.submit);
  (await call('getUnconfirmedTransactions', node, page))?.forEach(tx);
  await call('getUnconfirmedTransactionById', node, questions.submit.id);
}
console.log(JSON.stringify(out));
