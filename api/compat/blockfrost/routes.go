package blockfrost

import (
	"net/http"

	"birthmark/api/compat/blockfrost/actions"
	"birthmark/api/compat/blockfrost/epochs"
	"birthmark/api/compat/blockfrost/exchange"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// route is an endpoint. A part of its path in braces is variable.
type route struct {
	method, path string
	answer       func(q *request) error
	takes        func(q *exchange.Request) error // reads the parameters of the query; nil: there are none
	variables    []string                        // the names of the variable parts of the path: set at the start
	plain        bool                            // it needs no snapshot of the database
	with         string                          // the condition of an answer; empty: it is always answered
	reason       string                          // why it cannot be answered; empty: it can
}

// in returns an endpoint of another package.
func in(answer func(*exchange.Request) error) func(*request) error {
	return func(q *request) error { return answer(q.Request) }
}

// Parameters of lists.
var (
	paged  = exchange.Paged
	listed = exchange.Listed
	ranged = exchange.Ranged
)

// Conditions of answers.
const (
	aNode       = "a node"
	theSubjects = "the index subject"
)

// Reasons of endpoints without an answer.
const (
	needsLedger     = "needs the state of the ledger, which this server does not keep"
	needsAccounts   = "needs the state of all accounts, which a node does not list"
	needsRewards    = "needs the rewards of each epoch, which are in no block"
	needsStakes     = "needs the stake distribution of each epoch, which is in no block"
	needsCounting   = "needs the state of the ledger, which decides what votes count"
	needsEvaluator  = "needs an evaluator of Plutus scripts: use Ogmios"
	needsOffchain   = "needs data outside of the chain, such as registries, which this server does not fetch"
	needsStatistics = "this server does not count requests per project: see its endpoint /metrics for Prometheus"
	notIPFS         = "this server is no gateway to IPFS"
)

// routes are the endpoints of Blockfrost. A literal part of a path precedes a variable one.
var routes = []route{
	{method: get, path: "", answer: root, plain: true},
	{method: get, path: "health", answer: health, plain: true},
	{method: get, path: "health/clock", answer: clock, plain: true},
	{method: get, path: "metrics", reason: needsStatistics},
	{method: get, path: "metrics/endpoints", reason: needsStatistics},
	{method: get, path: "genesis", answer: genesis, plain: true},
	{method: get, path: "network", reason: needsAccounts},
	{method: get, path: "network/eras", answer: networkEras},

	// Through the node.
	{method: post, path: "tx/submit", answer: submit, plain: true, with: aNode},
	{method: get, path: "mempool", takes: listed, answer: mempool, plain: true, with: aNode},
	{method: get, path: "mempool/{hash}", answer: mempoolTx, with: aNode},
	{method: get, path: "mempool/addresses/{address}", takes: listed, answer: mempoolOfAddress, with: aNode},
	{method: get, path: "epochs/latest/parameters", answer: parameters, plain: true, with: aNode},
	{method: get, path: "epochs/{number}/parameters", reason: needsLedger},
	{method: get, path: "accounts/{stake_address}", answer: account, with: aNode},
	{method: post, path: "utils/txs/evaluate", reason: needsEvaluator},
	{method: post, path: "utils/txs/evaluate/utxos", reason: needsEvaluator},

	{method: get, path: "blocks/latest", answer: latestBlock},
	{method: get, path: "blocks/latest/txs", takes: listed, answer: latestBlockTxs},
	{method: get, path: "blocks/latest/txs/cbor", takes: listed, answer: latestBlockCBOR},
	{method: get, path: "blocks/slot/{slot_number}", answer: blockAtSlot},
	{method: get, path: "blocks/epoch/{epoch_number}/slot/{slot_number}", answer: blockInEpoch},
	{method: get, path: "blocks/{block}", answer: oneBlock},
	{method: get, path: "blocks/{block}/next", takes: paged, answer: nextBlocks},
	{method: get, path: "blocks/{block}/previous", takes: paged, answer: previousBlocks},
	{method: get, path: "blocks/{block}/txs", takes: listed, answer: blockTxs},
	{method: get, path: "blocks/{block}/txs/cbor", takes: listed, answer: blockCBOR},
	{method: get, path: "blocks/{block}/addresses", takes: paged, answer: blockAddresses},

	{method: get, path: "epochs/latest", answer: in(epochs.Latest)},
	{method: get, path: "epochs/{number}", answer: in(epochs.One)},
	{method: get, path: "epochs/{number}/next", takes: paged, answer: in(epochs.Next)},
	{method: get, path: "epochs/{number}/previous", takes: paged, answer: in(epochs.Previous)},
	{method: get, path: "epochs/{number}/stakes", takes: paged, reason: needsStakes},
	{method: get, path: "epochs/{number}/stakes/{pool_id}", takes: paged, reason: needsStakes},
	{method: get, path: "epochs/{number}/blocks", takes: listed, answer: in(epochs.Blocks)},
	{method: get, path: "epochs/{number}/blocks/{pool_id}", takes: listed, answer: in(epochs.BlocksOfPool)},

	{method: get, path: "txs/{hash}", answer: oneTx},
	{method: get, path: "txs/{hash}/utxos", answer: txUTXOs},
	{method: get, path: "txs/{hash}/cbor", answer: txCBOR},
	{method: get, path: "txs/{hash}/metadata", answer: txMetadata},
	{method: get, path: "txs/{hash}/metadata/cbor", answer: txMetadataCBOR},
	{method: get, path: "txs/{hash}/redeemers", answer: txRedeemers},
	{method: get, path: "txs/{hash}/required_signers", answer: txSigners},
	{method: get, path: "txs/{hash}/withdrawals", answer: txWithdrawals},
	{method: get, path: "txs/{hash}/stakes", answer: txStakes},
	{method: get, path: "txs/{hash}/delegations", answer: txDelegations},
	{method: get, path: "txs/{hash}/mirs", answer: txMIRs},
	{method: get, path: "txs/{hash}/pool_updates", answer: in(actions.TxPoolUpdates), with: theSubjects},
	{method: get, path: "txs/{hash}/pool_retires", answer: txPoolRetires},

	{method: get, path: "addresses/{address}", answer: oneAddress},
	{method: get, path: "addresses/{address}/extended", answer: addressExtended},
	{method: get, path: "addresses/{address}/total", answer: addressTotal},
	{method: get, path: "addresses/{address}/utxos", takes: listed, answer: addressUTXOs},
	{method: get, path: "addresses/{address}/utxos/{asset}", takes: listed, answer: addressUTXOsOf},
	{method: get, path: "addresses/{address}/txs", takes: listed, answer: addressTxs},
	{method: get, path: "addresses/{address}/transactions", takes: ranged, answer: addressTransactions},

	{method: get, path: "accounts/{stake_address}/rewards", takes: listed, reason: needsRewards},
	{method: get, path: "accounts/{stake_address}/history", takes: listed, reason: needsStakes},
	{method: get, path: "accounts/{stake_address}/delegations", takes: listed, answer: in(actions.Delegations), with: theSubjects},
	{method: get, path: "accounts/{stake_address}/registrations", takes: listed, answer: in(actions.Registrations), with: theSubjects},
	{method: get, path: "accounts/{stake_address}/withdrawals", takes: listed, answer: in(actions.Withdrawals), with: theSubjects},
	{method: get, path: "accounts/{stake_address}/mirs", takes: listed, answer: in(actions.MIRs), with: theSubjects},
	{method: get, path: "accounts/{stake_address}/addresses", takes: listed, answer: accountAddresses},
	{method: get, path: "accounts/{stake_address}/addresses/assets", takes: listed, answer: accountAssets},
	{method: get, path: "accounts/{stake_address}/addresses/total", answer: accountTotal},
	{method: get, path: "accounts/{stake_address}/utxos", takes: listed, answer: accountUTXOs},
	{method: get, path: "accounts/{stake_address}/transactions", takes: ranged, answer: accountTransactions},

	{method: get, path: "assets", takes: listed, answer: assets},
	{method: get, path: "assets/{asset}", answer: oneAsset},
	{method: get, path: "assets/{asset}/history", takes: listed, answer: assetEvents},
	{method: get, path: "assets/{asset}/txs", takes: listed, answer: assetTxs},
	{method: get, path: "assets/{asset}/transactions", takes: ranged, answer: assetTransactions},
	{method: get, path: "assets/{asset}/addresses", takes: listed, answer: assetAddresses},
	{method: get, path: "assets/{asset}/utxos", takes: ranged, answer: assetUTXOs},
	{method: get, path: "assets/policy/{policy_id}", takes: listed, answer: policyAssets},

	{method: get, path: "scripts", takes: listed, answer: scripts, with: "the index script"},
	{method: get, path: "scripts/{script_hash}", answer: oneScript},
	{method: get, path: "scripts/{script_hash}/json", answer: scriptJSON},
	{method: get, path: "scripts/{script_hash}/cbor", answer: scriptCBOR},
	{method: get, path: "scripts/{script_hash}/redeemers", takes: listed, answer: scriptRedeemers, with: theSubjects},
	{method: get, path: "scripts/{script_hash}/utxos", takes: listed, answer: scriptUTXOs},
	{method: get, path: "scripts/datum/{datum_hash}", answer: datumJSON},
	{method: get, path: "scripts/datum/{datum_hash}/cbor", answer: datumCBOR},

	{method: get, path: "metadata/txs/labels", takes: listed, answer: metadataLabels, with: "the index metadata_label"},
	{method: get, path: "metadata/txs/labels/{label}", takes: listed, answer: metadataOfLabel, with: "the index metadata_label"},
	{method: get, path: "metadata/txs/labels/{label}/cbor", takes: listed, answer: metadataCBOROfLabel, with: "the index metadata_label"},

	{method: get, path: "pools", takes: listed, answer: in(actions.Pools), with: theSubjects},
	{method: get, path: "pools/extended", takes: listed, answer: in(actions.Extended), with: aNode + ", the index subject and the index pool"},
	{method: get, path: "pools/retired", takes: listed, answer: in(actions.Retired), with: theSubjects},
	{method: get, path: "pools/retiring", takes: listed, answer: in(actions.Retiring), with: theSubjects},
	{method: get, path: "pools/{pool_id}", reason: needsAccounts},
	{method: get, path: "pools/{pool_id}/history", takes: listed, reason: needsStakes},
	{method: get, path: "pools/{pool_id}/metadata", answer: in(actions.Metadata), with: theSubjects},
	{method: get, path: "pools/{pool_id}/relays", answer: in(actions.Relays), with: theSubjects},
	{method: get, path: "pools/{pool_id}/delegators", takes: listed, reason: needsAccounts},
	{method: get, path: "pools/{pool_id}/blocks", takes: listed, answer: in(actions.Blocks), with: "the index pool"},
	{method: get, path: "pools/{pool_id}/updates", takes: listed, answer: in(actions.Updates), with: theSubjects},
	{method: get, path: "pools/{pool_id}/votes", takes: listed, answer: in(actions.PoolVotes), with: theSubjects},

	{method: get, path: "governance/committee", reason: needsLedger},
	{method: get, path: "governance/committee/votes", takes: listed, answer: in(actions.CommitteeVotes), with: theSubjects},
	{method: get, path: "governance/committee/{cc_id}/votes", takes: listed, answer: in(actions.MemberVotes), with: theSubjects},
	{method: get, path: "governance/dreps", takes: actions.FilteredDReps, answer: in(actions.DReps), with: aNode + " and the index subject"},
	{method: get, path: "governance/dreps/{drep_id}", answer: in(actions.DRep), with: aNode + " and the index subject"},
	{method: get, path: "governance/dreps/{drep_id}/delegators", takes: listed, answer: in(actions.DRepDelegators), with: aNode + " and the index subject"},
	{method: get, path: "governance/dreps/{drep_id}/metadata", reason: needsOffchain},
	{method: get, path: "governance/dreps/{drep_id}/updates", takes: listed, answer: in(actions.DRepUpdates), with: theSubjects},
	{method: get, path: "governance/dreps/{drep_id}/votes", takes: listed, answer: in(actions.DRepVotes), with: theSubjects},
	{method: get, path: "governance/proposals", takes: listed, answer: in(actions.Proposals), with: theSubjects},
	{method: get, path: "governance/proposals/{tx_hash}/{cert_index}", reason: needsLedger},
	{method: get, path: "governance/proposals/{tx_hash}/{cert_index}/parameters", answer: in(actions.ProposalParameters)},
	{method: get, path: "governance/proposals/{tx_hash}/{cert_index}/withdrawals", takes: listed, answer: in(actions.ProposalWithdrawals)},
	{method: get, path: "governance/proposals/{tx_hash}/{cert_index}/votes", takes: listed, reason: needsCounting},
	{method: get, path: "governance/proposals/{tx_hash}/{cert_index}/metadata", reason: needsOffchain},
	{method: get, path: "governance/proposals/{gov_action_id}", reason: needsLedger},
	{method: get, path: "governance/proposals/{gov_action_id}/parameters", answer: in(actions.ProposalParameters)},
	{method: get, path: "governance/proposals/{gov_action_id}/withdrawals", takes: listed, answer: in(actions.ProposalWithdrawals)},
	{method: get, path: "governance/proposals/{gov_action_id}/votes", takes: listed, reason: needsCounting},
	{method: get, path: "governance/proposals/{gov_action_id}/metadata", reason: needsOffchain},

	{method: get, path: "nutlink/{address}", reason: needsOffchain},
	{method: get, path: "nutlink/{address}/tickers", takes: listed, reason: needsOffchain},
	{method: get, path: "nutlink/{address}/tickers/{ticker}", takes: listed, reason: needsOffchain},
	{method: get, path: "nutlink/tickers/{ticker}", takes: listed, reason: needsOffchain},
	{method: get, path: "utils/addresses/xpub/{xpub}/{role}/{index}", answer: xpubAddress, plain: true},

	{method: post, path: "ipfs/add", reason: notIPFS},
	{method: get, path: "ipfs/gateway/{path}", reason: notIPFS},
	{method: post, path: "ipfs/pin/add/{path}", reason: notIPFS},
	{method: get, path: "ipfs/pin/list", takes: listed, reason: notIPFS},
	{method: get, path: "ipfs/pin/list/{path}", reason: notIPFS},
	{method: post, path: "ipfs/pin/remove/{path}", reason: notIPFS},
}
