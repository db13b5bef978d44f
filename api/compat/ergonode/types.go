package ergonode

import (
	"iter"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/model"
)

// The members of answers are in the order of the node. Those of blocks and of the mempool are in package boxes.

// boxValue is a box as the extra index has it.
type boxValue struct {
	Number  uint64           `json:"globalIndex"`
	Height  int              `json:"inclusionHeight"`
	Address string           `json:"address"`
	SpentBy *boxes.ID        `json:"spentTransactionId"`
	Proof   *boxes.ProofJSON `json:"spendingProof"`
	boxes.BoxJSON
}

func (v *view) boxOf(b *boxes.Box) (*boxValue, error) {
	to := new(boxValue)
	return to, v.setBox(to, b)
}

func (v *view) setBox(to *boxValue, b *boxes.Box) error {
	if !b.Unconfirmed {
		n, err := v.BoxNumber(b.Pk)
		if err != nil {
			return err
		}
		to.Number = n
	}
	to.Height, to.Address, to.BoxJSON = b.Height(), v.Address(b.Tx, b.Pos), b.JSON()
	if b.Spend != nil {
		proof := boxes.ProofOf(b.Spend.Input())
		to.SpentBy, to.Proof = (*boxes.ID)(&b.Spend.Tx.ID), &proof
	}
	return nil
}

// boxes yields boxes. Each value is valid until the next one.
func (v *view) boxes(batches iter.Seq2[[]boxes.Box, error]) iter.Seq2[*boxValue, error] {
	to := new(boxValue)
	return boxes.Each(batches, func(b *boxes.Box) (*boxValue, error) {
		*to = boxValue{}
		return to, v.setBox(to, b)
	})
}

// txValue is a transaction as the extra index has it.
type txValue struct {
	ID            boxes.ID              `json:"id"`
	Block         boxes.ID              `json:"blockId"`
	Height        int                   `json:"inclusionHeight"`
	Timestamp     uint64                `json:"timestamp"`
	Index         int                   `json:"index"`
	Number        uint64                `json:"globalIndex"`
	Confirmations int                   `json:"numConfirmations"`
	Inputs        []boxValue            `json:"inputs"`
	DataInputs    []boxes.DataInputJSON `json:"dataInputs"`
	Outputs       []boxValue            `json:"outputs"`
	Size          int                   `json:"size"`
}

func (v *view) txOf(t *boxes.FullTx) (*txValue, error) {
	to := new(txValue)
	return to, v.setTx(to, t)
}

// setTx sets a transaction without the genesis boxes that it spends; to can be another one.
func (v *view) setTx(to *txValue, t *boxes.FullTx) error {
	*to = txValue{
		ID: boxes.ID(t.ID), Block: boxes.ID(t.Block.ID), Height: int(t.Block.Height), Timestamp: t.Block.Header.Timestamp,
		Index: v.Q.TxIndex(t.Pk), Number: t.Number, Confirmations: v.Height() - int(t.Block.Height),
		Inputs: boxes.Emptied(to.Inputs, len(t.Inputs)), DataInputs: t.DataInputsJSON(),
		Outputs: boxes.Emptied(to.Outputs, len(t.Outputs))[:len(t.Outputs)], Size: t.Size,
	}
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if in.Genesis {
			continue
		}
		in.Spend = &boxes.Spend{Tx: t.Tx, Index: i}
		to.Inputs = append(to.Inputs, boxValue{})
		if err := v.setBox(&to.Inputs[len(to.Inputs)-1], in); err != nil {
			return err
		}
	}
	clear(to.Outputs)
	for i := range t.Outputs {
		if err := v.setBox(&to.Outputs[i], &t.Outputs[i]); err != nil {
			return err
		}
	}
	return nil
}

// txs yields transactions of the chain. Each value is valid until the next one.
func (v *view) txs(pks []model.TxPk) iter.Seq2[*txValue, error] {
	to := new(txValue)
	return boxes.Each(v.FullTxBatches(pks), func(t *boxes.FullTx) (*txValue, error) { return to, v.setTx(to, t) })
}

type heightValue struct {
	Indexed int `json:"indexedHeight"`
	Full    int `json:"fullHeight"`
}

// blockValue is a block as the extra index has it.
type blockValue struct {
	Header *boxes.HeaderJSON        `json:"header"`
	Txs    exchange.Items[*txValue] `json:"transactions"`
	Height int                      `json:"height"`
	Size   int                      `json:"size"`
}

func (v *view) blockOf(b *boxes.Block) (*blockValue, error) {
	pks, err := v.TxPks(b)
	return &blockValue{b.HeaderJSON(), exchange.ItemsOf(v.r, v.txs(pks)), int(b.Height), b.Size}, err
}

// blockTxsValue are the transactions of a block as the node stores them.
type blockTxsValue struct {
	Header  boxes.ID        `json:"headerId"`
	Txs     []*boxes.TxJSON `json:"transactions"`
	Version int             `json:"blockVersion"`
	Size    int             `json:"size"`
}

// merkleValue is the Merkle proof of a transaction.
type merkleValue struct {
	Leaf   boxes.ID `json:"leafData"`
	Levels [][2]any `json:"levels"` // the hash of the sibling, and 1 if it is on the left
}

// tokenValue is a token as the extra index has it.
type tokenValue struct {
	ID          boxes.ID `json:"id"`
	Box         boxes.ID `json:"boxId"`
	Amount      uint64   `json:"emissionAmount"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Decimals    int      `json:"decimals"`
}

func tokenOf(t *boxes.Token) *tokenValue {
	return &tokenValue{boxes.ID(t.ID), boxes.ID(t.Box), t.Amount, t.Node.Name, t.Node.Description, t.Node.Decimals}
}

type balancesValue struct {
	Confirmed   *balanceValue `json:"confirmed"`
	Unconfirmed *balanceValue `json:"unconfirmed"`
}

type balanceValue struct {
	NanoErgs uint64      `json:"nanoErgs"`
	Tokens   []heldValue `json:"tokens"`
}

type heldValue struct {
	ID       boxes.ID `json:"tokenId"`
	Amount   uint64   `json:"amount"`
	Decimals int      `json:"decimals"`
	Name     string   `json:"name"`
}

// rawBoxValue is a box and its bytes.
type rawBoxValue struct {
	ID    boxes.ID       `json:"boxId"`
	Bytes jsonappend.Hex `json:"bytes"`
}

// Values of utilities.
type (
	treeValue struct {
		Tree jsonappend.Hex `json:"tree"`
	}
	bytesValue struct {
		Bytes jsonappend.Hex `json:"bytes"`
	}
	rawValue struct {
		Raw jsonappend.Hex `json:"raw"`
	}
	addressValue struct {
		Address string `json:"address"`
	}
	checkedValue struct {
		Address string `json:"address"`
		Valid   bool   `json:"isValid"`
		Error   string `json:"error,omitempty"`
	}
)
