package boxes

import (
	"encoding/json"
	"math/big"
	"strconv"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/chains/ergo/sigma"
)

// Values of both APIs in JSON, with their members in the order of the node.

// ID is the id of a box, a transaction, a block or a token.
type ID [32]byte

// AppendJSON appends the digits.
func (id *ID) AppendJSON(b []byte) []byte { return jsonappend.Hex(id[:]).AppendJSON(b) }

// IDs returns ids for JSON.
func IDs[H ~[32]byte](all []H) []ID {
	ids := make([]ID, len(all))
	for i, h := range all {
		ids[i] = ID(h)
	}
	return ids
}

// Emptied returns a list without items, with room for n. It is in the memory of all if that has the room, and never null.
func Emptied[T any](all []T, n int) []T {
	if all == nil || cap(all) < n {
		return make([]T, 0, n)
	}
	return all[:0]
}

// Listed is a page of a list.
type Listed[T any] struct {
	Items exchange.Items[T] `json:"items"`
	Total int               `json:"total"`
}

// BoxJSON is a box of a transaction.
type BoxJSON struct {
	ID ID `json:"boxId"`
	ContentsJSON
}

// ContentsJSON are the members of a box after its id.
type ContentsJSON struct {
	Value     uint64         `json:"value"`
	Tree      jsonappend.Hex `json:"ergoTree"`
	Assets    []AssetJSON    `json:"assets"`
	Height    uint32         `json:"creationHeight"`
	Registers Named          `json:"additionalRegisters"`
	Tx        ID             `json:"transactionId"`
	Index     int            `json:"index"`
}

// AssetJSON is an amount of a token.
type AssetJSON struct {
	ID     ID     `json:"tokenId"`
	Amount uint64 `json:"amount"`
}

// Named are serialized values: registers by their names, or variables by their numbers.
type Named = jsonappend.Object[jsonappend.Hex]

// JSON returns the box for JSON.
func (b *Box) JSON() BoxJSON { return BoxJSON{ID(b.ID()), b.contents()} }

func (b *Box) contents() ContentsJSON {
	box := b.Box()
	c := ContentsJSON{
		Value: box.Value, Tree: box.Tree, Assets: make([]AssetJSON, len(box.Tokens)), Height: box.Height,
		Registers: SerializedOf(box), Tx: ID(b.Tx.ID), Index: b.Pos,
	}
	for i, t := range box.Tokens {
		c.Assets[i] = AssetJSON{ID(t.ID), t.Amount}
	}
	return c
}

// SerializedOf returns the serialized values of the registers of a box.
func SerializedOf(b *sigma.Box) Named {
	return RegistersOf(b, func(raw []byte) jsonappend.Hex { return raw })
}

// RegistersOf returns the additional registers of a box by their names.
func RegistersOf[T any](b *sigma.Box, value func(raw []byte) T) jsonappend.Object[T] {
	if len(b.Registers) == 0 {
		return nil
	}
	all := make(jsonappend.Object[T], 0, len(b.Registers))
	for n, raw := range b.Additional() {
		all = append(all, jsonappend.Member[T]{Name: "R4R5R6R7R8R9"[2*(n-sigma.FirstRegister):][:2], Value: value(raw)})
	}
	return all
}

// InputJSON is an input of a transaction.
type InputJSON struct {
	ID            ID        `json:"boxId"`
	Proof         ProofJSON `json:"spendingProof"`
	*ContentsJSON           // of the box in transactions of the mempool
}

// ProofJSON is the proof of an input with its variables.
type ProofJSON struct {
	Bytes     jsonappend.Hex `json:"proofBytes"`
	Extension Named          `json:"extension"`
}

// DataInputJSON is a box that a transaction reads.
type DataInputJSON struct {
	ID ID `json:"boxId"`
}

// TxJSON is a transaction of a block or of the mempool.
type TxJSON struct {
	ID         ID              `json:"id"`
	Inputs     []InputJSON     `json:"inputs"`
	DataInputs []DataInputJSON `json:"dataInputs"`
	Outputs    []BoxJSON       `json:"outputs"`
	Size       int             `json:"size"`
}

// ProofOf returns the proof of an input for JSON.
func ProofOf(in *sigma.Input) ProofJSON {
	p := ProofJSON{Bytes: in.Proof}
	for _, x := range in.Extension {
		if x.Value == nil {
			break // its bytes are in the one before it: see [sigma.ParseTx]
		}
		p.Extension = append(p.Extension, jsonappend.Member[jsonappend.Hex]{Name: strconv.Itoa(int(int8(x.ID))), Value: x.Value})
	}
	return p
}

// InputOf returns an input for JSON. It has the members of the box that it spends if box is not nil.
func InputOf(in *sigma.Input, box *Box) InputJSON {
	v := InputJSON{ID: ID(in.Box), Proof: ProofOf(in)}
	if box != nil {
		c := box.contents()
		v.ContentsJSON = &c
	}
	return v
}

// DataInputsJSON returns the data inputs of a transaction for JSON.
func (t *Tx) DataInputsJSON() []DataInputJSON {
	all := make([]DataInputJSON, len(t.DataInputs))
	for i, id := range t.DataInputs {
		all[i].ID = ID(id)
	}
	return all
}

// JSON returns the transaction for JSON. With inputs, which are the boxes that it spends, their members are added.
func (t *Tx) JSON(inputs []*Box) *TxJSON {
	v := &TxJSON{
		ID: ID(t.ID), Inputs: make([]InputJSON, len(t.Inputs)), DataInputs: t.DataInputsJSON(),
		Outputs: make([]BoxJSON, len(t.Outputs)), Size: t.Size,
	}
	for i := range t.Inputs {
		var box *Box
		if inputs != nil {
			box = inputs[i]
		}
		v.Inputs[i] = InputOf(&t.Inputs[i], box)
	}
	for i := range t.Outputs {
		v.Outputs[i] = (&Box{Tx: t, Pos: i}).JSON()
	}
	return v
}

// HeaderJSON is the header of a block.
type HeaderJSON struct {
	ExtensionID    ID             `json:"extensionId"`
	Difficulty     string         `json:"difficulty"`
	Votes          jsonappend.Hex `json:"votes"`
	Timestamp      uint64         `json:"timestamp"`
	Size           int            `json:"size"`
	Unparsed       jsonappend.Hex `json:"unparsedBytes"`
	StateRoot      jsonappend.Hex `json:"stateRoot"`
	Height         uint32         `json:"height"`
	NBits          uint32         `json:"nBits"`
	Version        byte           `json:"version"`
	ID             ID             `json:"id"`
	ADProofsRoot   ID             `json:"adProofsRoot"`
	TxsRoot        ID             `json:"transactionsRoot"`
	ExtensionHash  ID             `json:"extensionHash"`
	Solution       SolutionJSON   `json:"powSolutions"`
	ADProofsID     ID             `json:"adProofsId"`
	TransactionsID ID             `json:"transactionsId"`
	Parent         ID             `json:"parentId"`
}

// SolutionJSON is the solution of a header.
type SolutionJSON struct {
	Key        jsonappend.Hex `json:"pk"`
	OneTimeKey jsonappend.Hex `json:"w"`
	Nonce      jsonappend.Hex `json:"n"`
	Distance   any            `json:"d"` // a number at the node, a text in the explorer
}

// HeaderJSON returns the header of the block for JSON.
func (b *Block) HeaderJSON() *HeaderJSON {
	h := b.Header
	v := &HeaderJSON{
		ExtensionID: ID(b.Section(SectionExtension, h.ExtensionRoot)), Difficulty: h.Difficulty().String(), Votes: h.Votes[:],
		Timestamp: h.Timestamp, Size: b.Bytes, Unparsed: h.Unparsed, StateRoot: h.StateRoot[:], Height: h.Height, NBits: h.NBits,
		Version: h.Version, ID: ID(b.ID), ADProofsRoot: ID(h.ADProofsRoot), TxsRoot: ID(h.TransactionsRoot),
		ExtensionHash: ID(h.ExtensionRoot), Solution: SolutionOf(h), ADProofsID: ID(b.Section(SectionProofs, h.ADProofsRoot)),
		TransactionsID: ID(b.Section(SectionTransactions, h.TransactionsRoot)), Parent: ID(h.Parent),
	}
	v.Solution.Distance = json.Number(v.Solution.Distance.(string))
	return v
}

// SolutionOf returns the solution of a header for JSON.
func SolutionOf(h *sigma.Header) SolutionJSON {
	w := OneTimeKey(h)
	return SolutionJSON{h.MinerKey[:], w[:], h.Nonce[:], new(big.Int).SetBytes(h.D).String()}
}

// OneTimeKey returns the field w of the solution of a header. Versions without it have the generator of the curve.
func OneTimeKey(h *sigma.Header) [sigma.PointSize]byte {
	if h.Version > 1 {
		return sigma.Generator
	}
	return h.W
}
