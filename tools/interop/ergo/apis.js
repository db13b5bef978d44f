// Clients of the APIs of Ergo's node, explorer and ergo-graphql, and sigma-rust: requests addresses, boxes, transactions
// and so on from the servers, recomputes every id from the bytes, and prints one JSON document.
//
//   node --import ./resolve.js apis.js NODE_URL EXPLORER_URL GRAPHQL_URL < QUESTIONS
//
// QUESTIONS is {"addresses": [], "boxes": [], "txs": [], "blocks": [], "tokens": [], "templates": [], "submit": []}, where
// submit has a transaction for the node, and one for ergo-graphql. The document has "boxes", pairs of the id in an answer
// and the id that sigma-rust computes, "txs", likewise, "unread", what sigma-rust cannot read, "failed", the calls that
// failed, "calls", the number of answers by the name of the call, and "differences" from the documents (types.js).
import fs from 'node:fs';
import nodeModule from '@rosen-clients/ergo-node';
import explorerModule from '@rosen-clients/ergo-explorer';
import {ErgoGraphQLProvider} from '@fleet-sdk/blockchain-providers';
import {ErgoBox, Transaction} from 'ergo-lib-wasm-nodejs';
import {differences} from './types.js';

const [nodeURL, explorerURL, graphqlURL] = process.argv.slice(2);
const node = (nodeModule.default ?? nodeModule)(nodeURL);
const explorer = (explorerModule.default ?? explorerModule)(explorerURL).v1;
const graphql = new ErgoGraphQLProvider(graphqlURL);
const questions = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = {boxes: [], txs: [], unread: [], failed: [], calls: {}};
const answers = []; // for types.js, some of each operation

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
    // Nodes list unconfirmed transactions without the boxes that they spend, which the document has.
    if (client !== graphql && name !== 'getUnconfirmedTransactions' && out.calls[name] <= 8) answers.push([client === node ? 'node' : 'explorer', name, answer]);
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
  (await call('getTxsByAddress', node, a, page))?.items.forEach((t) => t.outputs.forEach(box));
  await call('getAddressBalanceTotal', node, a);
  (await call('getApiV1AddressesP1Transactions', explorer, a, page))?.items.forEach((t) => t.outputs.forEach(box));
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
await call('getApiV1EpochsParams', explorer);
await call('getUnconfirmedTxIds', node);
await call('sendTransaction', node, questions.submit[0]);
(await call('getUnconfirmedTransactions', node, page))?.forEach(tx);
await call('getUnconfirmedTransactionById', node, questions.submit[0].id);

// Fleet writes amounts as strings.
const strings = (t) => JSON.parse(JSON.stringify(t, (name, v) => name === 'value' || name === 'amount' ? String(v) : v));
for (const name of ['checkTransaction', 'submitTransaction']) {
  const answer = await call(name, graphql, strings(questions.submit[1]));
  if (answer && answer.transactionId !== questions.submit[1].id) out.failed.push(`${name}: ${text(answer)}`);
}
for (const from of ['blockchain', 'mempool', 'blockchain+mempool']) {
  const boxes = async (where) => (await call('getBoxes', graphql, {where, from}))?.forEach(box);
  await boxes({ergoTree: questions.submit[1].outputs[0].ergoTree});
  for (const address of questions.addresses.slice(0, 10)) await boxes({address});
  for (const tokenId of questions.tokens.slice(0, 10)) await boxes({tokenId});
  for (const templateHash of questions.templates.slice(0, 10)) await boxes({templateHash});
  for (const boxId of questions.boxes.slice(0, 10)) await boxes({boxId});
}
const headers = await call('getHeaders', graphql, {take: 10});
if (headers?.length !== 10) out.failed.push(`getHeaders: ${text(headers)}`);
out.differences = differences(answers);
out.compared = answers.length;
console.log(JSON.stringify(out));
