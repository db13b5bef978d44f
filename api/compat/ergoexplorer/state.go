package ergoexplorer

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/core/schema"
	"birthmark/model"
)

var stateEndpoints = []endpoint{
	{http.MethodGet, "info", networkState, false},
	{http.MethodGet, "networkState", networkState, false},
	{http.MethodGet, "networkStats", networkStats, false},
	{http.MethodGet, "epochs/params", params, false},
	{http.MethodPost, "ergotree/convert", unsupported("only the reference implementation prints an ErgoTree as it does"), false},
	{http.MethodGet, "docs/openapi", unsupported("its document describes the explorer's own server; see docs/ergo-clients.md"), false},
}

// idText returns the id of a token in hex.
func idText(t *boxes.Token) string { return hex.EncodeToString(t.ID[:]) }

// listAssets lists the entries of tokens in the boxes that mint them.
func (q *request) listAssets(keep func(*boxes.Token) bool) error {
	p, err := q.page(maxItems)
	if err != nil {
		return err
	}
	page, total, err := q.v.TokenList(!p.ascending, keep, p.offset, p.limit)
	if err != nil {
		return err
	}
	return q.paged(total, func() error {
		for i, t := range page {
			pk, _, err := q.v.BoxOf(t.Box)
			if err != nil {
				return err
			}
			minting, err := q.v.UnspentBoxes([]model.UtxoPk{pk})
			if err != nil {
				return err
			}
			q.Comma(i)
			q.addAsset(&minting[0], t)
		}
		return nil
	})
}

func (q *request) addAsset(b *boxes.Box, t *boxes.Token) {
	for n, entry := range b.Box().Tokens {
		if entry.ID != t.ID {
			continue
		}
		q.Add(`{"tokenId":`)
		q.ID(t.ID)
		q.Add(`,"boxId":`)
		q.ID(t.Box)
		q.Add(`,"headerId":`)
		q.Hex(b.Block.ID[:])
		q.Add(`,"index":`)
		q.Int(n)
		q.Add(`,"amount":`)
		q.Uint(entry.Amount)
		q.addKind(t)
		q.Add("}")
		return
	}
}

// Ergo's emission schedule: coins per block until the first reduction, and the reductions.
const (
	nanoErgs       = 1_000_000_000
	firstReward    = 75 * nanoErgs
	rewardStep     = 3 * nanoErgs
	firstReduction = 525_600 // blocks
	reductionEvery = 64_800
)

// issued returns the coins that the schedule issues up to a height.
func issued(height int) (sum uint64) {
	n := min(height, firstReduction-1)
	sum = uint64(n) * firstReward
	reward := firstReward
	for at := firstReduction; at <= height && reward > 0; at += reductionEvery {
		if reward -= rewardStep; reward > 0 {
			sum += uint64(min(height-at+1, reductionEvery)) * uint64(reward)
		}
	}
	return sum
}

// A day in seconds, and the most blocks of one that are read: ten times as many as expected.
const (
	day       = 24 * 60 * 60
	dayBlocks = 7200
)

// oldInfo writes the version of the last block, the supply, and the number of transactions and the hash rate of the last
// day (BlockChainInfo, getBlockChainInfo in StatsService.scala of ergoplatform/explorer-backend).
func oldInfo(q *request, _ []string) error {
	tip := q.v.Height()
	var last *boxes.Block
	txs, difficulty := 0, new(big.Int)
	for h := tip; h > max(0, tip-dayBlocks); h-- {
		b, err := q.v.Block(model.HeightPk(h))
		if err != nil {
			return err
		}
		if last == nil {
			last = b
		}
		if b.Header.Timestamp+1000*day < last.Header.Timestamp {
			break
		}
		txs += b.TxCount
		difficulty.Add(difficulty, b.Header.Difficulty())
	}
	version := "0.0.0"
	if last != nil {
		version = strconv.Itoa(int(last.Header.Version))
	}
	return q.addJSON(map[string]any{
		"version": version, "supply": issued(tip), "transactionAverage": txs,
		"hashRate": json.Number(difficulty.Div(difficulty, big.NewInt(day)).Add(difficulty, big.NewInt(1)).String()),
	})
}

// parameters are the voted ones, which only the node has.
type parameters struct {
	Height           int `json:"height"`
	StorageFeeFactor int `json:"storageFeeFactor"`
	MinValuePerByte  int `json:"minValuePerByte"`
	MaxBlockSize     int `json:"maxBlockSize"`
	MaxBlockCost     int `json:"maxBlockCost"`
	BlockVersion     int `json:"blockVersion"`
	TokenAccessCost  int `json:"tokenAccessCost"`
	InputCost        int `json:"inputCost"`
	DataInputCost    int `json:"dataInputCost"`
	OutputCost       int `json:"outputCost"`
}

// parameters requests the voted parameters from the node. It returns nil without a node, and if the node fails.
func (q *request) parameters() *parameters {
	node := q.Chain.Node()
	if node == nil {
		return nil
	}
	var i struct{ Parameters *parameters }
	a, err := node.Ask(q.Ctx, []string{"info"}, nil, nil)
	if err != nil || a.Status != http.StatusOK || json.Unmarshal(a.Body, &i) != nil {
		return nil
	}
	return i.Parameters
}

// state returns the state of the network.
func (q *request) state() map[string]any {
	state := map[string]any{
		"height": q.v.Height(), "maxBoxGix": int64(q.v.Boxes()) - 1, "maxTxGix": int64(q.v.TxCount()) - 1, "params": q.parameters(),
		"lastBlockId": "",
	}
	if !q.v.Tip.IsOrigin() {
		state["lastBlockId"] = q.v.Tip.Hash.String()
	}
	return state
}

func (q *request) addJSON(v any) error {
	body, err := json.Marshal(v)
	q.Out = append(q.Out, body...)
	return err
}

func networkState(q *request, _ []string) error { return q.addJSON(q.state()) }

func networkStats(q *request, _ []string) error {
	x, err := q.v.Q.Index(boxes.AddressIndex)
	if err != nil {
		return err
	}
	q.Add(`{"uniqueAddressesNum":`)
	q.Uint(q.v.Q.Totals.Rows[x.Family(schema.IndexValue)])
	q.Add("}")
	return nil
}

func params(q *request, _ []string) error {
	p := q.parameters()
	if p == nil {
		return absent("the voted parameters: they need a node, set node in the settings")
	}
	return q.addJSON(p)
}
