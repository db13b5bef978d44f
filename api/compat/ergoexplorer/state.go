package ergoexplorer

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/core/schema"
	"birthmark/model"
)

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

// oldInfo returns the version of the last block, the supply, and the number of transactions and the hash rate of the last
// day (BlockChainInfo, getBlockChainInfo in StatsService.scala of ergoplatform/explorer-backend).
func oldInfo(*request) answer {
	return func(v *view) (any, error) {
		tip := v.Height()
		to := &chainValue{Supply: issued(tip), Version: "0.0.0"}
		var last *boxes.Block
		difficulty := new(big.Int)
		for h := tip; h > max(0, tip-dayBlocks); h-- {
			b, err := v.Block(model.HeightPk(h))
			if err != nil {
				return nil, err
			}
			if last == nil {
				last = b
				to.Version = strconv.Itoa(int(b.Header.Version))
			}
			if b.Header.Timestamp+1000*day < last.Header.Timestamp {
				break
			}
			to.Txs += b.TxCount
			difficulty.Add(difficulty, b.Header.Difficulty())
		}
		to.HashRate = json.Number(difficulty.Div(difficulty, big.NewInt(day)).Add(difficulty, big.NewInt(1)).String())
		return to, nil
	}
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
func (p *protocol) parameters(r *request) *parameters {
	node := p.Node()
	if node == nil {
		return nil
	}
	var i struct{ Parameters *parameters }
	a, err := node.Ask(r.Context(), []string{"info"}, nil, nil)
	if err != nil || a.Status != http.StatusOK || json.Unmarshal(a.Body, &i) != nil {
		return nil
	}
	return i.Parameters
}

func (p *protocol) networkState(r *request) answer {
	params := p.parameters(r)
	return func(v *view) (any, error) {
		to := &stateValue{Height: v.Height(), MaxBox: int64(v.Boxes()) - 1, MaxTx: int64(v.TxCount()) - 1, Params: params}
		if !v.Tip.IsOrigin() {
			to.LastBlock = v.Tip.Hash.String()
		}
		return to, nil
	}
}

func networkStats(*request) answer {
	return func(v *view) (any, error) {
		x, err := v.Q.Index(boxes.AddressIndex)
		if err != nil {
			return nil, err
		}
		return &statsValue{v.Q.Totals.Rows[x.Family(schema.IndexValue)]}, nil
	}
}

func (p *protocol) epochParams(r *request) (any, error) {
	params := p.parameters(r)
	if params == nil {
		return nil, absent("the voted parameters: they need a node, set node in the settings")
	}
	return params, nil
}
