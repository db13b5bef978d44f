// A client of a Cardano node's node-to-node side.
//
//   node client.js HOST PORT NETWORK_MAGIC COUNT
//
// Shakes hands, intersects at the origin, requests COUNT headers, then the blocks of a range that it reads from standard
// input as SLOT HASH SLOT HASH, and prints the answers: "version N", "intersection", "back", COUNT times
// "header HEX" (as it was wrapped), "tip NUMBER", "alive COOKIE", "block HEX" for each.
'use strict';

const net = require('net');
const readline = require('readline');
const {
  Multiplexer, HandshakeClient, ChainSyncClient, BlockFetchClient,
  ChainPoint, ChainSyncRollBackwards, ChainSyncRollForward
} = require('@harmoniclabs/ouroboros-miniprotocols-ts');
const {KeepAliveClient} = require('@harmoniclabs/ouroboros-miniprotocols-ts/dist/protocols/keep-alive/KeepAliveClient'); // which it forgets to export

const [host, port, magic, count] = process.argv.slice(2);
const hex = (bytes) => Buffer.from(bytes).toString('hex');

(async () => {
  const socket = net.connect({host, port: Number(port)});
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const mplexer = new Multiplexer({protocolType: 'node-to-node', connect: () => socket});

  const accepted = await new HandshakeClient(mplexer).propose({
    networkMagic: Number(magic), initiatorOnlyDiffusionMode: true, peerSharing: 0, query: false
  });
  console.log('version %d', accepted.versionNumber);

  const chain = new ChainSyncClient(mplexer);
  const found = await chain.findIntersect([ChainPoint.origin]);
  console.log(found.point && found.point.isOrigin() ? 'intersection' : `no intersection: ${found}`);
  let next = await chain.requestNext();
  console.log(next instanceof ChainSyncRollBackwards ? 'back' : `no rollback: ${next}`);
  for (let i = 0; i < Number(count); i++) {
    next = await chain.requestNext();
    console.log(next instanceof ChainSyncRollForward ? `header ${hex(next.getDataBytes())}` : `no header: ${next}`);
  }
  console.log(`tip ${next.tip.blockNo}`);

  const answer = await new KeepAliveClient(mplexer).request(0xbeef);
  console.log('alive %d', answer.cookie);

  const lines = readline.createInterface({input: process.stdin});
  const range = await new Promise((resolve) => lines.once('line', (l) => resolve(l.split(' '))));
  lines.close();
  const point = (slot, hash) => new ChainPoint({blockHeader: {slotNumber: Number(slot), hash: Buffer.from(hash, 'hex')}});
  const blocks = await new BlockFetchClient(mplexer).requestRange(point(range[0], range[1]), point(range[2], range[3]));
  for (const b of blocks)
    console.log('block %s', hex(b.getBlockBytes()));
  socket.end();
  process.exit(0);
})().catch((err) => {
  console.error(err.stack);
  process.exit(1);
});
