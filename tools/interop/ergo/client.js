// A client of a node's REST API: sends requests to the node at a URL and prints the answers, one JSON document per line.
//
//   node --import ./resolve.js client.js URL HEIGHT COUNT
//
// The lines are /info, COUNT ids from HEIGHT on, the ids at HEIGHT, the first of those blocks, its header, its
// transactions, all of the blocks at once, the last COUNT headers, and the genesis boxes.
import module from '@rosen-clients/ergo-node';

const [url, height, count] = process.argv.slice(2);
const node = (module.default ?? module)(url);
// Amounts may come as BigInt, which JSON does not know: as they are, without quotes.
const print = (value) => console.log(
  JSON.stringify(value, (_, v) => typeof v === 'bigint' ? `@${v}@` : v).replace(/"@(\d+)@"/g, '$1')
);

print(await node.getNodeInfo());
const ids = await node.getHeaderIds({offset: Number(height), limit: Number(count)});
print(ids);
print(await node.getFullBlockAt(Number(height)));
print(await node.getFullBlockById(ids[0]));
print(await node.getBlockHeaderById(ids[0]));
print(await node.getBlockTransactionsById(ids[0]));
print(await node.getFullBlockByIds(ids));
print(await node.getLastHeaders(Number(count)));
print(await node.genesisBoxes());
