package ergoexplorer

import (
	"encoding/json"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
)

// blockValue is a BlockInfo.
type blockValue struct {
	ID         boxes.ID    `json:"id"`
	Height     int         `json:"height"`
	Epoch      int         `json:"epoch"`
	Version    int         `json:"version"`
	Timestamp  uint64      `json:"timestamp"`
	Txs        int         `json:"transactionsCount"`
	Miner      minerValue  `json:"miner"`
	Size       int         `json:"size"`
	Difficulty json.Number `json:"difficulty"`
	Reward     uint64      `json:"minerReward"`
}

// minerValue is a miner, whose name is the end of its address.
type minerValue struct {
	Address string `json:"address"`
	Name    string `json:"name"`
}

// epochBlocks is the number of blocks of an epoch of votes.
const epochBlocks = 1024

func (v *view) blockOf(b *boxes.Block) (*blockValue, error) {
	reward, err := v.Reward(b)
	miner := v.Miner(b)
	return &blockValue{
		boxes.ID(b.ID), int(b.Height), int(b.Height) / epochBlocks, int(b.Header.Version), b.Header.Timestamp, b.TxCount,
		minerValue{miner, miner[max(0, len(miner)-8):]}, b.Size, json.Number(b.Header.Difficulty().String()), reward,
	}, err
}

// headerValue is a header as lists have it, or as blocks have it.
type headerValue struct {
	ID            boxes.ID           `json:"id"`
	Parent        boxes.ID           `json:"parentId"`
	Version       int                `json:"version"`
	Timestamp     uint64             `json:"timestamp"`
	Height        int                `json:"height"`
	NBits         uint32             `json:"nBits"`
	StateRoot     jsonappend.Hex     `json:"stateRoot"`
	ADProofsRoot  boxes.ID           `json:"adProofsRoot"`
	TxsRoot       boxes.ID           `json:"transactionsRoot"`
	ExtensionHash boxes.ID           `json:"extensionHash"`
	Solution      boxes.SolutionJSON `json:"powSolutions"`
	*headerOfBlock
	Votes any `json:"votes"` // hex in lists, an object in blocks
}

type headerOfBlock struct {
	Epoch      int         `json:"epoch"`
	Difficulty json.Number `json:"difficulty"`
	Size       int         `json:"size"`
}

func headerOf(b *boxes.Block) *headerValue {
	h := b.Header
	return &headerValue{
		ID: boxes.ID(b.ID), Parent: boxes.ID(h.Parent), Version: int(h.Version), Timestamp: h.Timestamp, Height: int(b.Height),
		NBits: h.NBits, StateRoot: h.StateRoot[:], ADProofsRoot: boxes.ID(h.ADProofsRoot), TxsRoot: boxes.ID(h.TransactionsRoot),
		ExtensionHash: boxes.ID(h.ExtensionRoot), Solution: boxes.SolutionOf(h), Votes: jsonappend.Hex(h.Votes[:]),
	}
}

func headerInBlock(b *boxes.Block) *headerValue {
	v := headerOf(b)
	v.headerOfBlock = &headerOfBlock{v.Height / epochBlocks, json.Number(b.Header.Difficulty().String()), b.Size}
	var votes jsonappend.Object[int8]
	for i, vote := range b.Header.Votes {
		votes = append(votes, jsonappend.Member[int8]{Name: "_" + strconv.Itoa(i+1), Value: int8(vote)})
	}
	v.Votes = &votes
	return v
}

// summaryValue is a BlockSummary.
type summaryValue struct {
	Block      fullBlockValue `json:"block"`
	References struct {
		Previous boxes.ID  `json:"previousId"`
		Next     *boxes.ID `json:"nextId"`
	} `json:"references"`
}

// fullBlockValue is a FullBlockInfo. A block of a stream has neither extension nor proofs.
type fullBlockValue struct {
	Header *headerValue                    `json:"header"`
	Txs    exchange.Items[*summaryTxValue] `json:"blockTransactions"`
	*sectionsValue
}

type sectionsValue struct {
	Extension extensionValue `json:"extension"`
	Proofs    *string        `json:"adProofs"`
}

type extensionValue struct {
	Digest boxes.ID       `json:"digest"`
	Fields map[string]any `json:"fields"`
	Header boxes.ID       `json:"headerId"`
}

func (v *view) fullBlockOf(b *boxes.Block) (*fullBlockValue, error) {
	pks, err := v.TxPks(b)
	return &fullBlockValue{Header: headerInBlock(b), Txs: exchange.ItemsOf(v.r, func(yield func(*summaryTxValue, error) bool) {
		for batch, err := range v.FullTxBatches(pks) {
			var tokens tokenMap
			if err == nil {
				tokens, err = v.tokensOf(batch...)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range batch {
				if !yield(v.summaryTxOf(&batch[i], tokens), nil) {
					return
				}
			}
		}
	})}, err
}

// summaryTxValue is a transaction of a block.
type summaryTxValue struct {
	ID            boxes.ID             `json:"id"`
	Header        boxes.ID             `json:"headerId"`
	Height        int                  `json:"inclusionHeight"`
	Timestamp     uint64               `json:"timestamp"`
	Index         int                  `json:"index"`
	Confirmations int                  `json:"confirmationsCount"`
	Inputs        []summaryInputValue  `json:"inputs"`
	DataInputs    []summaryInputValue  `json:"dataInputs"`
	Outputs       []summaryOutputValue `json:"outputs"`
}

type summaryInputValue struct {
	ID          boxes.ID                 `json:"id"`
	Value       uint64                   `json:"value"`
	Index       int                      `json:"index"`
	Proof       optional[jsonappend.Hex] `json:"spendingProof,omitzero"` // absent: of a data input
	Tx          boxes.ID                 `json:"transactionId"`
	OutputTx    boxes.ID                 `json:"outputTransactionId"`
	OutputIndex int                      `json:"outputIndex"`
	Address     string                   `json:"address"`
}

// outputValue is a box with the members of version 0. Its registers are only the serialized values.
type outputValue struct {
	ID        boxes.ID       `json:"id"`
	Tx        boxes.ID       `json:"txId"`
	Value     uint64         `json:"value"`
	Index     int            `json:"index"`
	Created   uint32         `json:"creationHeight"`
	Tree      jsonappend.Hex `json:"ergoTree"`
	Address   string         `json:"address"`
	Assets    []assetValue   `json:"assets"`
	Registers boxes.Named    `json:"additionalRegisters"`
}

type summaryOutputValue struct {
	outputValue
	SpentBy *boxes.ID `json:"spentTransactionId"`
	Main    bool      `json:"mainChain"`
}

func (v *view) outputOf(b *boxes.Box, tokens tokenMap) outputValue {
	box := b.Box()
	return outputValue{
		boxes.ID(b.ID()), boxes.ID(b.Tx.ID), box.Value, b.Pos, box.Height, box.Tree, v.Address(b.Tx, b.Pos), assetsOf(box, tokens),
		boxes.SerializedOf(box),
	}
}

func (v *view) summaryTxOf(t *boxes.FullTx, tokens tokenMap) *summaryTxValue {
	to := &summaryTxValue{
		ID: boxes.ID(t.ID), Header: boxes.ID(t.Block.ID), Height: int(t.Block.Height), Timestamp: t.Block.Header.Timestamp,
		Index: v.Q.TxIndex(t.Pk), Confirmations: v.Height() - int(t.Block.Height) + 1,
		Inputs: make([]summaryInputValue, len(t.Inputs)), DataInputs: make([]summaryInputValue, 0, len(t.Data)),
		Outputs: make([]summaryOutputValue, len(t.Outputs)),
	}
	input := func(b *boxes.Box, i int) summaryInputValue {
		return summaryInputValue{
			ID: boxes.ID(b.ID()), Value: b.Box().Value, Index: i, Tx: boxes.ID(t.ID), OutputTx: boxes.ID(b.Tx.ID),
			OutputIndex: b.Pos, Address: v.Address(b.Tx, b.Pos),
		}
	}
	for i := range t.Inputs {
		to.Inputs[i] = input(&t.Inputs[i], i)
		to.Inputs[i].Proof = proofOf(&t.Tx.Inputs[i])
	}
	for i, b := range t.Data {
		if b != nil {
			to.DataInputs = append(to.DataInputs, input(b, i))
		}
	}
	for i := range t.Outputs {
		b := &t.Outputs[i]
		to.Outputs[i] = summaryOutputValue{v.outputOf(b, tokens), nil, true}
		if b.Spend != nil {
			to.Outputs[i].SpentBy = (*boxes.ID)(&b.Spend.Tx.ID)
		}
	}
	return to
}
