package onesat

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Op is an operation of BSV-21.
type Op string

const (
	DeployMint Op = "deploy+mint" // creates a token with an amount
	DeployAuth Op = "deploy+auth" // creates a token and the authority to mint it
	Mint       Op = "mint"        // has an amount that the transaction creates, if an input has the authority
	Auth       Op = "auth"        // has the authority to mint, if an input has it
	Transfer   Op = "transfer"    // has an amount of the inputs
	Burn       Op = "burn"        // destroys an amount of the inputs
)

// TokenOp is a BSV-21 inscription.
type TokenOp struct {
	Op     Op
	Of     Outpoint // the output that deployed the token, if the operation is no deployment
	Amount uint64   // 0: of Auth and DeployAuth
	Token           // of a deployment
}

// Token describes a token.
type Token struct {
	Symbol   string `json:"sym,omitempty"`
	Icon     string `json:"icon,omitempty"` // outpoint of an inscription or a file
	Decimals uint8  `json:"dec,omitempty"`
}

const (
	tokenType     = "application/bsv-20"
	tokenProtocol = "bsv-20"
	maxDecimals   = 18

	// maxJSON is the size of the largest operation in bytes. The protocol has no limit; a parsed document takes several times
	// its size in memory.
	maxJSON = 1 << 20
)

// ReadToken returns the operation of an inscription; nil if it has none, or an invalid one. A token that is not named by
// its canonical id is unknown, which no input has.
func ReadToken(in *Inscription) *TokenOp {
	if in == nil || in.Type != tokenType || len(in.Content) > maxJSON {
		return nil
	}
	var data map[string]any
	if json.Unmarshal(in.Content, &data) != nil || data["p"] != tokenProtocol {
		return nil
	}
	// text returns a member; valid is false if it is present and no text.
	text := func(name string) (value string, present, valid bool) {
		member, present := data[name]
		value, valid = member.(string)
		return value, present, valid || !present
	}
	op, _, valid := text("op")
	if !valid {
		return nil
	}
	t := &TokenOp{Op: Op(strings.ToLower(op))}
	amount, present, valid := text("amt")
	switch {
	case t.Op == Auth || t.Op == DeployAuth:
		if present {
			return nil
		}
	case !present || !valid:
		return nil
	default:
		var err error
		if t.Amount, err = strconv.ParseUint(amount, 10, 64); err != nil {
			return nil
		}
	}
	if decimals, present, valid := text("dec"); !valid {
		return nil
	} else if present {
		n, err := strconv.ParseUint(decimals, 10, 8)
		if err != nil || n > maxDecimals {
			return nil
		}
		t.Decimals = uint8(n)
	}
	switch t.Op {
	case DeployMint, DeployAuth:
		var validIcon bool
		t.Symbol, _, valid = text("sym")
		if t.Icon, _, validIcon = text("icon"); !valid || !validIcon {
			return nil
		}
	case Mint, Auth, Transfer, Burn:
		t.Token = Token{}
		id, _, _ := text("id")
		of, ok := ParseOutpoint(id)
		if !ok {
			return nil
		}
		t.Of = of
	default:
		return nil
	}
	return t
}

// Outpoint is a transaction in the byte order of its hash, and the index of an output, big-endian.
type Outpoint [36]byte

// NewOutpoint returns an outpoint.
func NewOutpoint(tx model.Hash, index int) (o Outpoint) {
	copy(o[:], tx[:])
	binary.BigEndian.PutUint32(o[len(tx):], uint32(index))
	return o
}

// String returns TXID_INDEX, the form of ids of BSV-21.
func (o Outpoint) String() string {
	return block.FormatHash(model.Hash(o[:32])) + "_" + strconv.FormatUint(uint64(binary.BigEndian.Uint32(o[32:])), 10)
}

// ParseOutpoint reads the form of [Outpoint.String]. Other forms of the same outpoint are not read.
func ParseOutpoint(text string) (o Outpoint, ok bool) {
	id, index, _ := strings.Cut(text, "_")
	tx, ok := block.ParseHash(id)
	n, err := strconv.ParseUint(index, 10, 32)
	if o = NewOutpoint(tx, int(n)); !ok || err != nil || o.String() != text {
		return Outpoint{}, false
	}
	return o, true
}
