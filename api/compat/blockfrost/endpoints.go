package blockfrost

import (
	"cmp"
	"log/slog"
	"net/http"

	"birthmark/api/bounded"
	"birthmark/api/compat/utxo"
	"birthmark/api/exchange"
	"birthmark/api/served"
	"birthmark/chains/cardano/node"
	"birthmark/core/query"
)

// Options configure a handler.
type Options struct {
	Chain   *served.Chain
	Path    string       // below which the API is served: "/api/v0"
	Version string       // of this program
	InSync  func() bool  // whether the database is near the tip of its source
	Log     *slog.Logger // nil: no log
}

// jsonType is the media type of answers.
const jsonType = "application/json; charset=utf-8"

// New returns the handler of all requests below the path of o. The chain must fulfil [Needs].
func New(o Options) http.Handler { return newServer(o).handler() }

// server is the state that all requests share.
type server struct {
	Options
	network    *networkValue // nil: its constants are unknown
	positions  bounded.Cache[pageKey, pageEnd]
	parameters lastState[node.Parameters]
	stakes     lastState[node.Stakes]
	sums       bounded.Cache[uint64, *epochSums] // by epoch; they may end before it, or on orphaned blocks
}

func newServer(o Options) *server {
	return &server{
		Options: o, network: networks[o.Chain.Model.Network()], positions: bounded.Cache[pageKey, pageEnd]{Max: 1 << 16},
		sums: bounded.Cache[uint64, *epochSums]{Max: 1 << 13}, // mainnet has 73 per year
	}
}

func (s *server) handler() http.Handler {
	return exchange.Handler(exchange.Protocol[*view]{
		Path: s.Path, Log: s.Log, Endpoints: s.endpoints(), Open: s.open, Error: failure, NotFound: notFound,
		JSON: jsonType, Trim: true, MaxBody: maxSubmitted,
		Preflight: http.Header{"Content-Type": {jsonType}, "Access-Control-Allow-Headers": {"project_id, content-type"}},
	})
}

type (
	request = exchange.Request
	answer  = func(*view) (any, error)
)

// view is the chain at one tip, for one request.
type view struct {
	*call
	utxo.Reader
	View *query.View
}

func (s *server) open(r *request, fn func(*view) error) error {
	return s.Chain.View(r.Context(), func(v *query.View) error {
		return v.From(r.Context(), func(q *query.Query) error { return fn(&view{Reader: utxo.Reader{Q: q}, View: v}) })
	})
}

// endpoint is an operation of Blockfrost. It has an answer from the chain, an answer that reads no block, or a reason.
type endpoint struct {
	method string      // empty: GET
	path   string      // segments in braces are arguments: see [arguments]
	takes  *parameters // of the query; nil: none
	answer answer
	node   func(*call) (any, error)
	with   string // the condition of an answer; empty: it is always answered
	reason string // why it cannot be answered
}

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

// endpoints lists the endpoints of Blockfrost's OpenAPI document. The first match of a path answers the request.
var endpoints = []endpoint{
	{path: "", node: root},
	{path: "health", node: health},
	{path: "health/clock", node: clock},
	{path: "metrics", reason: needsStatistics},
	{path: "metrics/endpoints", reason: needsStatistics},
	{path: "genesis", node: genesis},
	{path: "network", reason: needsAccounts},
	{path: "network/eras", answer: networkEras},

	// Through the node.
	{method: http.MethodPost, path: "tx/submit", node: submit, with: aNode},
	{path: "mempool", takes: listed, node: mempool, with: aNode},
	{path: "mempool/{hash}", answer: mempoolTx, with: aNode},
	{path: "mempool/addresses/{address}", takes: listed, node: mempoolOfAddress, with: aNode},
	{path: "epochs/latest/parameters", node: latestParameters, with: aNode},
	{path: "epochs/{number}/parameters", reason: needsLedger},
	{path: "accounts/{stake_address}", answer: account, with: aNode},
	{method: http.MethodPost, path: "utils/txs/evaluate", reason: needsEvaluator},
	{method: http.MethodPost, path: "utils/txs/evaluate/utxos", reason: needsEvaluator},

	{path: "blocks/latest", answer: latestBlock},
	{path: "blocks/latest/txs", takes: listed, answer: latestBlockTxs},
	{path: "blocks/latest/txs/cbor", takes: listed, answer: latestBlockCBOR},
	{path: "blocks/slot/{slot_number}", answer: blockAtSlot},
	{path: "blocks/epoch/{epoch_number}/slot/{slot_number}", answer: blockInEpoch},
	{path: "blocks/{block}", answer: oneBlock},
	{path: "blocks/{block}/next", takes: paged, answer: nextBlocks},
	{path: "blocks/{block}/previous", takes: paged, answer: previousBlocks},
	{path: "blocks/{block}/txs", takes: listed, answer: blockTxs},
	{path: "blocks/{block}/txs/cbor", takes: listed, answer: blockCBOR},
	{path: "blocks/{block}/addresses", takes: paged, answer: blockAddresses},

	{path: "epochs/latest", answer: latestEpoch},
	{path: "epochs/{number}", answer: oneEpoch},
	{path: "epochs/{number}/next", takes: paged, answer: nextEpochs},
	{path: "epochs/{number}/previous", takes: paged, answer: previousEpochs},
	{path: "epochs/{number}/stakes", takes: paged, reason: needsStakes},
	{path: "epochs/{number}/stakes/{pool_id}", takes: paged, reason: needsStakes},
	{path: "epochs/{number}/blocks", takes: listed, answer: epochBlocks},
	{path: "epochs/{number}/blocks/{pool_id}", takes: listed, answer: epochBlocksOfPool},

	{path: "txs/{hash}", answer: ofTx(oneTx)},
	{path: "txs/{hash}/utxos", answer: ofTx(txUTXOs)},
	{path: "txs/{hash}/cbor", answer: txCBOR},
	{path: "txs/{hash}/metadata", answer: ofTx(txMetadata)},
	{path: "txs/{hash}/metadata/cbor", answer: ofTx(txMetadataCBOR)},
	{path: "txs/{hash}/redeemers", answer: ofTx(txRedeemers)},
	{path: "txs/{hash}/required_signers", answer: ofTx(txSigners)},
	{path: "txs/{hash}/withdrawals", answer: ofTx(txWithdrawals)},
	{path: "txs/{hash}/stakes", answer: ofTx(txStakes)},
	{path: "txs/{hash}/delegations", answer: ofTx(txDelegations)},
	{path: "txs/{hash}/mirs", answer: ofTx(txMIRs)},
	{path: "txs/{hash}/pool_updates", answer: ofTx(txPoolUpdates), with: theSubjects},
	{path: "txs/{hash}/pool_retires", answer: ofTx(txPoolRetires)},

	{path: "addresses/{address}", answer: oneAddress},
	{path: "addresses/{address}/extended", answer: addressExtended},
	{path: "addresses/{address}/total", answer: addressTotal},
	{path: "addresses/{address}/utxos", takes: listed, answer: addressUTXOs},
	{path: "addresses/{address}/utxos/{asset}", takes: listed, answer: addressUTXOsOf},
	{path: "addresses/{address}/txs", takes: listed, answer: addressTxs},
	{path: "addresses/{address}/transactions", takes: ranged, answer: addressTransactions},

	{path: "accounts/{stake_address}/rewards", takes: listed, reason: needsRewards},
	{path: "accounts/{stake_address}/history", takes: listed, reason: needsStakes},
	{path: "accounts/{stake_address}/delegations", takes: listed, answer: accountDelegations, with: theSubjects},
	{path: "accounts/{stake_address}/registrations", takes: listed, answer: accountRegistrations, with: theSubjects},
	{path: "accounts/{stake_address}/withdrawals", takes: listed, answer: accountWithdrawals, with: theSubjects},
	{path: "accounts/{stake_address}/mirs", takes: listed, answer: accountMIRs, with: theSubjects},
	{path: "accounts/{stake_address}/addresses", takes: listed, answer: accountAddresses},
	{path: "accounts/{stake_address}/addresses/assets", takes: listed, answer: accountAssets},
	{path: "accounts/{stake_address}/addresses/total", answer: accountTotal},
	{path: "accounts/{stake_address}/utxos", takes: listed, answer: accountUTXOs},
	{path: "accounts/{stake_address}/transactions", takes: ranged, answer: accountTransactions},

	{path: "assets", takes: listed, answer: assets},
	{path: "assets/policy/{policy_id}", takes: listed, answer: policyAssets},
	{path: "assets/{asset}", answer: oneAsset},
	{path: "assets/{asset}/history", takes: listed, answer: assetEvents},
	{path: "assets/{asset}/txs", takes: listed, answer: assetTxs},
	{path: "assets/{asset}/transactions", takes: ranged, answer: assetTransactions},
	{path: "assets/{asset}/addresses", takes: listed, answer: assetAddresses},
	{path: "assets/{asset}/utxos", takes: ranged, answer: assetUTXOs},

	{path: "scripts", takes: listed, answer: scripts, with: "the index script"},
	{path: "scripts/datum/{datum_hash}", answer: datumJSON},
	{path: "scripts/datum/{datum_hash}/cbor", answer: datumCBOR},
	{path: "scripts/{script_hash}", answer: oneScript},
	{path: "scripts/{script_hash}/json", answer: scriptJSON},
	{path: "scripts/{script_hash}/cbor", answer: scriptCBOR},
	{path: "scripts/{script_hash}/redeemers", takes: listed, answer: scriptRedeemers, with: theSubjects},
	{path: "scripts/{script_hash}/utxos", takes: listed, answer: scriptUTXOs},

	{path: "metadata/txs/labels", takes: listed, answer: metadataLabels, with: "the index metadata_label"},
	{path: "metadata/txs/labels/{label}", takes: listed, answer: metadataOfLabel, with: "the index metadata_label"},
	{path: "metadata/txs/labels/{label}/cbor", takes: listed, answer: metadataCBOROfLabel, with: "the index metadata_label"},

	{path: "pools", takes: listed, answer: pools, with: theSubjects},
	{path: "pools/extended", takes: listed, answer: poolsExtended, with: aNode + ", the index subject and the index pool"},
	{path: "pools/retired", takes: listed, answer: retiredPools, with: theSubjects},
	{path: "pools/retiring", takes: listed, answer: retiringPools, with: theSubjects},
	{path: "pools/{pool_id}", reason: needsAccounts},
	{path: "pools/{pool_id}/history", takes: listed, reason: needsStakes},
	{path: "pools/{pool_id}/metadata", answer: poolMetadata, with: theSubjects},
	{path: "pools/{pool_id}/relays", answer: poolRelays, with: theSubjects},
	{path: "pools/{pool_id}/delegators", takes: listed, reason: needsAccounts},
	{path: "pools/{pool_id}/blocks", takes: listed, answer: poolBlocks, with: "the index pool"},
	{path: "pools/{pool_id}/updates", takes: listed, answer: poolUpdates, with: theSubjects},
	{path: "pools/{pool_id}/votes", takes: listed, answer: poolVotes, with: theSubjects},

	{path: "governance/committee", reason: needsLedger},
	{path: "governance/committee/votes", takes: listed, answer: committeeVotes, with: theSubjects},
	{path: "governance/committee/{cc_id}/votes", takes: listed, answer: memberVotes, with: theSubjects},
	{path: "governance/dreps", takes: filtered, answer: dreps, with: aNode + " and the index subject"},
	{path: "governance/dreps/{drep_id}", answer: oneDRep, with: aNode + " and the index subject"},
	{path: "governance/dreps/{drep_id}/delegators", takes: listed, answer: drepDelegators, with: aNode + " and the index subject"},
	{path: "governance/dreps/{drep_id}/metadata", reason: needsOffchain},
	{path: "governance/dreps/{drep_id}/updates", takes: listed, answer: drepUpdates, with: theSubjects},
	{path: "governance/dreps/{drep_id}/votes", takes: listed, answer: drepVotes, with: theSubjects},
	{path: "governance/proposals", takes: listed, answer: proposals, with: theSubjects},
	{path: "governance/proposals/{gov_action_id}", reason: needsLedger},
	{path: "governance/proposals/{gov_action_id}/parameters", answer: proposalParameters},
	{path: "governance/proposals/{gov_action_id}/withdrawals", takes: listed, answer: proposalWithdrawals},
	{path: "governance/proposals/{gov_action_id}/votes", takes: listed, reason: needsCounting},
	{path: "governance/proposals/{gov_action_id}/metadata", reason: needsOffchain},
	{path: "governance/proposals/{tx_hash}/{cert_index}", reason: needsLedger},
	{path: "governance/proposals/{tx_hash}/{cert_index}/parameters", answer: proposalParameters},
	{path: "governance/proposals/{tx_hash}/{cert_index}/withdrawals", takes: listed, answer: proposalWithdrawals},
	{path: "governance/proposals/{tx_hash}/{cert_index}/votes", takes: listed, reason: needsCounting},
	{path: "governance/proposals/{tx_hash}/{cert_index}/metadata", reason: needsOffchain},

	{path: "nutlink/tickers/{ticker}", takes: listed, reason: needsOffchain},
	{path: "nutlink/{address}", reason: needsOffchain},
	{path: "nutlink/{address}/tickers", takes: listed, reason: needsOffchain},
	{path: "nutlink/{address}/tickers/{ticker}", takes: listed, reason: needsOffchain},
	{path: "utils/addresses/xpub/{xpub}/{role}/{index}", node: xpubAddress},

	{method: http.MethodPost, path: "ipfs/add", reason: notIPFS},
	{path: "ipfs/gateway/{path}", reason: notIPFS},
	{method: http.MethodPost, path: "ipfs/pin/add/{path}", reason: notIPFS},
	{path: "ipfs/pin/list", takes: listed, reason: notIPFS},
	{path: "ipfs/pin/list/{path}", reason: notIPFS},
	{method: http.MethodPost, path: "ipfs/pin/remove/{path}", reason: notIPFS},
}

// endpoints returns the endpoints with the reading of their arguments.
func (s *server) endpoints() (all []exchange.Endpoint[*view]) {
	for i := range endpoints {
		e := &endpoints[i]
		names := argumentsOf(e.path)
		to := exchange.Endpoint[*view]{Method: cmp.Or(e.method, http.MethodGet), Path: e.path}
		if e.answer != nil {
			to.Answer = func(r *request) answer {
				c, err := s.read(e, names, r)
				if err != nil {
					r.Refuse(err)
				}
				return func(v *view) (any, error) {
					v.call = c
					return e.answer(v)
				}
			}
		} else {
			to.Node = func(r *request) (any, error) {
				c, err := s.read(e, names, r)
				if err == nil && e.reason != "" {
					err = notImplemented(e.reason)
				}
				if err != nil {
					return nil, err
				}
				return e.node(c)
			}
		}
		all = append(all, to)
	}
	return all
}
