package ergoexplorer

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/core/schema"
	"birthmark/model"
)

var stateEndpoints = []endpoint{
	{http.MethodGet, "info", info, false},
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

// dayBlocks is the number of blocks of about a day.
const dayBlocks = 720

// info writes the state of the network, the supply, and averages of the last day's blocks.
func info(q *request, _ []string) error {
	tip := q.v.Height()
	var txs int
	difficulty := new(big.Int)
	first := max(1, tip-dayBlocks+1)
	var from, to uint64
	for h := first; h <= tip; h++ {
		b, err := q.v.Block(model.HeightPk(h))
		if err != nil {
			return err
		}
		txs += b.TxCount
		if difficulty.Add(difficulty, b.Header.Difficulty()); h == first {
			from = b.Header.Timestamp
		}
		to = b.Header.Timestamp
	}
	average, rate := 0, new(big.Int)
	if tip >= first {
		average = txs / (tip - first + 1)
	}
	if seconds := int64(to-from) / 1000; to > from && seconds > 0 {
		rate.Div(difficulty, big.NewInt(seconds))
	}
	state := q.state()
	state["version"], state["supply"], state["transactionAverage"], state["hashRate"] = "1.0", issued(tip), average, json.Number(rate.String())
	return q.addJSON(state)
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
