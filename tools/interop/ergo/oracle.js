// sigma-rust as an oracle: prints a line of JSON for each line of standard input.
//
//   tree NETWORK HEX   {"address": TEXT}; the network is 0 or 16
//   tx JSON            {"id": HEX, "boxes": [HEX, …]} of a transaction as nodes give it, recomputed from the bytes
//
// The answer to an input that it cannot read is {"error": TEXT}.
import readline from 'node:readline';
import {Address, ErgoBox, ErgoTree, Transaction} from 'ergo-lib-wasm-nodejs';

const tree = (network, hex) => ({
  address: Address.recreate_from_ergo_tree(ErgoTree.from_base16_bytes(hex)).to_base58(Number(network))
});

const tx = (json) => { // not by way of JSON.parse, which has no room for large numbers
  const read = Transaction.sigma_parse_bytes(Transaction.from_json(json).sigma_serialize_bytes());
  const outputs = read.outputs();
  const boxes = [];
  for (let i = 0; i < outputs.len(); i++) {
    boxes.push(ErgoBox.sigma_parse_bytes(outputs.get(i).sigma_serialize_bytes()).box_id().to_str());
  }
  return {id: read.id().to_str(), boxes};
};

for await (const line of readline.createInterface({input: process.stdin})) {
  let text;
  try {
    const [kind, ...rest] = line.split(' ');
    text = kind === 'tree' ? tree(...rest) : tx(rest.join(' '));
  } catch (e) {
    text = {error: String(e)};
  }
  console.log(JSON.stringify(text));
}
