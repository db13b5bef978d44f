package ergotest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// header has the fields that determine a header's id, as a node writes them.
type header struct {
	ADProofsRoot, TransactionsRoot, StateRoot, ExtensionHash, Votes hexBytes
	Timestamp                                                       uint64
	NBits, Height                                                   uint32
	Version                                                         byte
	PowSolutions                                                    struct {
		PK, W, N hexBytes
		D        json.Number
	}
}

type hexBytes []byte

// UnmarshalText reads hex.
func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

var headerIDs = regexp.MustCompile(`"headerId":"[0-9a-f]{64}"`)

// Rehead gives a real block of version 1 another parent, a time one second later, and the id of the new header: this
// makes a branch of real blocks beside the real chain.
func Rehead(b Block, parent model.Hash) (Block, error) {
	var full map[string]json.RawMessage
	if err := json.Unmarshal(b.JSON, &full); err != nil {
		return b, err
	}
	var h header
	members := map[string]any{}
	numbers := json.NewDecoder(bytes.NewReader(full["header"]))
	numbers.UseNumber()
	if err := errors.Join(json.Unmarshal(full["header"], &h), numbers.Decode(&members)); err != nil {
		return b, err
	}
	made, err := h.sigma(parent)
	if err != nil {
		return b, fmt.Errorf("block %d: %w", b.Height, err)
	}
	b.ID, b.Parent = model.Hash(made.ID()), parent
	members["id"], members["parentId"], members["timestamp"] = b.ID.String(), parent.String(), made.Timestamp
	if full["header"], err = json.Marshal(members); err != nil {
		return b, err
	}
	raw, err := json.Marshal(full)
	b.JSON = headerIDs.ReplaceAll(raw, []byte(`"headerId":"`+b.ID.String()+`"`))
	return b, err
}

func (h *header) sigma(parent model.Hash) (*sigma.Header, error) {
	d, ok := new(big.Int).SetString(h.PowSolutions.D.String(), 10)
	if h.Version != 1 || !ok {
		return nil, fmt.Errorf("a header of version %d: expected 1", h.Version)
	}
	s := &sigma.Header{
		Version: 1, Parent: sigma.ID(parent), Timestamp: h.Timestamp + 1000, NBits: h.NBits, Height: h.Height, D: d.Bytes(),
	}
	for _, f := range []struct{ to, from []byte }{
		{s.ADProofsRoot[:], h.ADProofsRoot}, {s.TransactionsRoot[:], h.TransactionsRoot}, {s.StateRoot[:], h.StateRoot},
		{s.ExtensionRoot[:], h.ExtensionHash}, {s.Votes[:], h.Votes},
		{s.MinerKey[:], h.PowSolutions.PK}, {s.W[:], h.PowSolutions.W}, {s.Nonce[:], h.PowSolutions.N},
	} {
		if copy(f.to, f.from) != len(f.to) {
			return nil, fmt.Errorf("%x has not %d bytes", f.from, len(f.to))
		}
	}
	return s, nil
}
