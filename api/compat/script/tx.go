package script

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// ParseTx reads a serialized transaction, with or without witness. Bytes after it are an error.
func ParseTx(raw []byte) (*wire.MsgTx, error) {
	var tx wire.MsgTx
	in := bytes.NewReader(raw)
	if err := tx.Deserialize(in); err != nil {
		return nil, fmt.Errorf("transaction of %d bytes: %w", len(raw), err)
	}
	if in.Len() > 0 {
		return nil, fmt.Errorf("transaction of %d bytes: %d bytes follow it", len(raw), in.Len())
	}
	return &tx, nil
}

// IsCoinbase reports whether a transaction creates coins.
func IsCoinbase(tx *wire.MsgTx) bool {
	return len(tx.TxIn) == 1 && tx.TxIn[0].PreviousOutPoint == wire.OutPoint{Index: wire.MaxPrevOutIndex}
}

// AppendHash appends a hash in display order as hex digits.
func AppendHash(to []byte, h model.Hash) []byte {
	n := len(to)
	to = slices.Grow(to, 2*len(h))[:n+2*len(h)]
	text := (*[2 * len(h)]byte)(to[n:])
	for i := range h {
		binary.LittleEndian.PutUint16(text[2*i:], digits[h[len(h)-1-i]])
	}
	return to
}

// digits are the two hex digits of each byte.
var digits = func() (pairs [256]uint16) {
	const hex = "0123456789abcdef"
	for b := range pairs {
		pairs[b] = uint16(hex[b>>4]) | uint16(hex[b&15])<<8
	}
	return pairs
}()

// AppendBTC appends an amount of satoshi in BTC with 8 decimal places.
func AppendBTC(to []byte, satoshi int64) []byte {
	if satoshi < 0 {
		to, satoshi = append(to, '-'), -satoshi
	}
	to = strconv.AppendInt(to, satoshi/1e8, 10)
	to = append(to, '.')
	fraction := strconv.AppendInt(nil, satoshi%1e8+1e8, 10)
	return append(to, fraction[1:]...)
}

// VerboseTx is the object that getrawtransaction of Bitcoin Core returns with verbosity 1.
type VerboseTx struct {
	ID            Hash         `json:"txid"`
	Hash          Hash         `json:"hash"`
	Version       uint32       `json:"version"`
	Size          int          `json:"size"`
	VSize         int          `json:"vsize"`
	Weight        int          `json:"weight"`
	LockTime      uint32       `json:"locktime"`
	Inputs        []verboseIn  `json:"vin"`
	Outputs       []verboseOut `json:"vout"`
	Raw           Hex          `json:"hex"`
	*Confirmation              // nil: it is unconfirmed
}

// Confirmation is where a transaction is confirmed.
type Confirmation struct {
	Block         Hash   `json:"blockhash"`
	Confirmations uint32 `json:"confirmations"`
	Time          int64  `json:"time"`
	BlockTime     int64  `json:"blocktime"` // the same
}

type verboseIn struct {
	Coinbase *Hex `json:"coinbase,omitempty"`
	*verboseSpend
	Witness  []Hex  `json:"txinwitness,omitempty"`
	Sequence uint32 `json:"sequence"`
}

type verboseSpend struct {
	Tx     Hash   `json:"txid"`
	Index  uint32 `json:"vout"`
	Script struct {
		Asm coreSigAsm `json:"asm"`
		Hex Hex        `json:"hex"`
	} `json:"scriptSig"`
}

type verboseOut struct {
	Value  btc           `json:"value"`
	Index  int           `json:"n"`
	Script verboseScript `json:"scriptPubKey"`
}

type verboseScript struct {
	Asm        coreAsm     `json:"asm"`
	Descriptor *descriptor `json:"desc"`
	Hex        Hex         `json:"hex"`
	Address    string      `json:"address,omitempty"`
	Type       string      `json:"type"`
}

type (
	btc        int64  // satoshi
	coreAsm    []byte // an output script
	coreSigAsm []byte // the script of an input
	descriptor struct {
		script  []byte
		address string
	}
)

// AppendJSON implements [jsonappend.Value].
func (v btc) AppendJSON(b []byte) []byte { return AppendBTC(b, int64(v)) }

// AppendJSON implements [jsonappend.Value].
func (s coreAsm) AppendJSON(b []byte) []byte {
	return append(AppendCoreAsm(append(b, '"'), s, false), '"')
}

// AppendJSON implements [jsonappend.Value].
func (s coreSigAsm) AppendJSON(b []byte) []byte {
	return append(AppendCoreAsm(append(b, '"'), s, true), '"')
}

// AppendJSON implements [jsonappend.Value].
func (d *descriptor) AppendJSON(b []byte) []byte {
	return append(AppendDescriptor(append(b, '"'), d.script, d.address), '"')
}

// VerboseTxOf reads a serialized transaction. address returns the address of an output script, empty if it has none.
func VerboseTxOf(raw []byte, address func(script []byte) string, in *Confirmation) (*VerboseTx, error) {
	tx, err := ParseTx(raw)
	if err != nil {
		return nil, err
	}
	weight, vsize, err := block.TxWeight(raw)
	if err != nil {
		return nil, err
	}
	v := &VerboseTx{
		ID: Hash(tx.TxHash()), Hash: Hash(block.DoubleHash(raw)), Version: uint32(tx.Version), Size: len(raw), VSize: vsize,
		Weight: weight, LockTime: tx.LockTime, Inputs: make([]verboseIn, len(tx.TxIn)),
		Outputs: make([]verboseOut, len(tx.TxOut)), Raw: raw, Confirmation: in,
	}
	for i, from := range tx.TxIn {
		to := &v.Inputs[i]
		if to.Sequence = from.Sequence; IsCoinbase(tx) {
			to.Coinbase = (*Hex)(&from.SignatureScript)
		} else {
			to.verboseSpend = &verboseSpend{Tx: Hash(from.PreviousOutPoint.Hash), Index: from.PreviousOutPoint.Index}
			to.Script.Asm, to.Script.Hex = from.SignatureScript, from.SignatureScript
		}
		for _, item := range from.Witness {
			to.Witness = append(to.Witness, item)
		}
	}
	for i, out := range tx.TxOut {
		s := out.PkScript
		paid := address(s)
		v.Outputs[i] = verboseOut{btc(out.Value), i, verboseScript{s, &descriptor{s, paid}, s, paid, CoreType(s)}}
	}
	return v, nil
}
