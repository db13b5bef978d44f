package esplora

import "net/http"

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// routes are the endpoints. The first one that matches answers.
var routes = []route{
	{method: get, path: "blocks/tip/hash", answer: tipHash},
	{method: get, path: "blocks/tip/height", answer: tipHeight},
	{method: get, path: "blocks", answer: blocks},
	{method: get, path: "blocks/{start}", answer: blocks},
	{method: get, path: "block-height/{height}", answer: hashAt},
	{method: get, path: "block/{hash}", answer: oneBlock},
	{method: get, path: "block/{hash}/status", answer: blockStatus},
	{method: get, path: "block/{hash}/txids", answer: blockTxIDs},
	{method: get, path: "block/{hash}/txid/{index}", answer: blockTxID},
	{method: get, path: "block/{hash}/txs", answer: blockTxs},
	{method: get, path: "block/{hash}/txs/{start}", answer: blockTxs},
	{method: get, path: "block/{hash}/header", answer: blockHeader},
	{method: get, path: "block/{hash}/raw", answer: rawBlock},

	{method: get, path: "tx/{id}", answer: oneTx},
	{method: get, path: "tx/{id}/status", answer: txStatus},
	{method: get, path: "tx/{id}/hex", answer: txHex},
	{method: get, path: "tx/{id}/raw", answer: txRaw},
	{method: get, path: "tx/{id}/merkle-proof", answer: merkleProof},
	{method: get, path: "tx/{id}/merkleblock-proof", answer: merkleBlock},
	{method: get, path: "tx/{id}/outspend/{index}", answer: outspend},
	{method: get, path: "tx/{id}/outspends", answer: outspends},
	{method: get, path: "txs/outspends", answer: manyOutspends},

	{method: post, path: "tx", answer: submit, node: true},
	{method: get, path: "broadcast", answer: submit, node: true},
	{method: post, path: "txs/package", answer: submitPackage, node: true},
	{method: post, path: "txs/test", answer: testAccept, node: true},

	{method: get, path: "address/{address}", answer: scriptStats},
	{method: get, path: "address/{address}/txs", answer: scriptTxs},
	{method: get, path: "address/{address}/txs/chain", answer: confirmedTxs},
	{method: get, path: "address/{address}/txs/chain/{last}", answer: confirmedTxs},
	{method: get, path: "address/{address}/txs/mempool", answer: unconfirmedTxs},
	{method: get, path: "address/{address}/txs/summary", answer: summary},
	{method: get, path: "address/{address}/txs/summary/{last}", answer: summary},
	{method: get, path: "address/{address}/utxo", answer: unspent},
	{method: get, path: "address-prefix/{prefix}", answer: addressPrefix},
	{method: post, path: "addresses/txs", answer: manyTxs},
	{method: get, path: "scripthash/{hash}", answer: scriptStats},
	{method: get, path: "scripthash/{hash}/txs", answer: scriptTxs},
	{method: get, path: "scripthash/{hash}/txs/chain", answer: confirmedTxs},
	{method: get, path: "scripthash/{hash}/txs/chain/{last}", answer: confirmedTxs},
	{method: get, path: "scripthash/{hash}/txs/mempool", answer: unconfirmedTxs},
	{method: get, path: "scripthash/{hash}/txs/summary", answer: summary},
	{method: get, path: "scripthash/{hash}/txs/summary/{last}", answer: summary},
	{method: get, path: "scripthash/{hash}/utxo", answer: unspent},
	{method: post, path: "scripthashes/txs", answer: manyTxs},

	{method: get, path: "mempool", answer: mempool},
	{method: get, path: "mempool/txids", answer: mempoolIDs},
	{method: get, path: "mempool/txids/page", answer: mempoolPage},
	{method: get, path: "mempool/txids/page/{last}", answer: mempoolPage},
	{method: get, path: "mempool/recent", answer: mempoolRecent},
	{method: get, path: "fee-estimates", answer: feeEstimates, node: true},
	{method: get, path: "v1/block/{hash}", answer: oneBlock}, // mempool.js has these two below v1
	{method: get, path: "v1/blocks", answer: blocks},
	{method: get, path: "v1/blocks/{start}", answer: blocks},
	{method: get, path: "v1/fees/recommended", answer: recommendedFees, node: true},
}
