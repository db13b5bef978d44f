package script

import (
	"bytes"
	"encoding/hex"
	"fmt"
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
	for i := len(h) - 1; i >= 0; i-- {
		to = append(to, digits[h[i]>>4], digits[h[i]&15])
	}
	return to
}

const digits = "0123456789abcdef"

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

// Confirmation is where a transaction is confirmed.
type Confirmation struct {
	Block         model.Hash
	Confirmations uint32
	Time          int64 // of the block, unix seconds
}

// AppendVerboseTx appends the JSON object that getrawtransaction of Bitcoin Core returns with verbosity 1. address
// returns the address of an output script, empty if it has none. in is nil for an unconfirmed transaction.
func AppendVerboseTx(to, raw []byte, address func(script []byte) string, in *Confirmation) ([]byte, error) {
	tx, err := ParseTx(raw)
	if err != nil {
		return to, err
	}
	weight, vsize, err := block.TxWeight(raw)
	if err != nil {
		return to, err
	}
	to = append(to, `{"txid":"`...)
	to = AppendHash(to, model.Hash(tx.TxHash()))
	to = append(to, `","hash":"`...)
	to = AppendHash(to, block.DoubleHash(raw))
	to = append(to, `","version":`...)
	to = strconv.AppendUint(to, uint64(uint32(tx.Version)), 10)
	to = appendNumber(to, `,"size":`, len(raw))
	to = appendNumber(to, `,"vsize":`, vsize)
	to = appendNumber(to, `,"weight":`, weight)
	to = appendNumber(to, `,"locktime":`, int(tx.LockTime))
	to = append(to, `,"vin":[`...)
	for i, txIn := range tx.TxIn {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendVerboseIn(to, txIn, IsCoinbase(tx))
	}
	to = append(to, `],"vout":[`...)
	for i, out := range tx.TxOut {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, `{"value":`...)
		to = AppendBTC(to, out.Value)
		to = appendNumber(to, `,"n":`, i)
		to = append(to, `,"scriptPubKey":`...)
		to = appendVerboseScript(to, out.PkScript, address(out.PkScript))
		to = append(to, '}')
	}
	to = append(to, `],"hex":"`...)
	to = hex.AppendEncode(to, raw)
	to = append(to, '"')
	if in != nil {
		to = append(to, `,"blockhash":"`...)
		to = AppendHash(to, in.Block)
		to = append(to, '"')
		to = appendNumber(to, `,"confirmations":`, int(in.Confirmations))
		to = appendNumber(to, `,"time":`, int(in.Time))
		to = appendNumber(to, `,"blocktime":`, int(in.Time))
	}
	return append(to, '}'), nil
}

func appendNumber(to []byte, key string, n int) []byte {
	return strconv.AppendInt(append(to, key...), int64(n), 10)
}

func appendVerboseIn(to []byte, in *wire.TxIn, coinbase bool) []byte {
	if coinbase {
		to = append(to, `{"coinbase":"`...)
		to = hex.AppendEncode(to, in.SignatureScript)
		to = append(to, '"')
	} else {
		to = append(to, `{"txid":"`...)
		to = AppendHash(to, model.Hash(in.PreviousOutPoint.Hash))
		to = append(to, '"')
		to = appendNumber(to, `,"vout":`, int(in.PreviousOutPoint.Index))
		to = append(to, `,"scriptSig":{"asm":"`...)
		to = AppendCoreAsm(to, in.SignatureScript, true)
		to = append(to, `","hex":"`...)
		to = hex.AppendEncode(to, in.SignatureScript)
		to = append(to, `"}`...)
	}
	if len(in.Witness) > 0 {
		to = append(to, `,"txinwitness":`...)
		to = AppendHexList(to, in.Witness)
	}
	to = appendNumber(to, `,"sequence":`, int(in.Sequence))
	return append(to, '}')
}

func appendVerboseScript(to, script []byte, address string) []byte {
	to = append(to, `{"asm":"`...)
	to = AppendCoreAsm(to, script, false)
	to = append(to, `","desc":"`...)
	to = AppendDescriptor(to, script, address)
	to = append(to, `","hex":"`...)
	to = hex.AppendEncode(to, script)
	if address != "" {
		to = append(to, `","address":"`...)
		to = append(to, address...)
	}
	to = append(to, `","type":"`...)
	to = append(to, CoreType(script)...)
	return append(to, `"}`...)
}

// AppendHexList appends a JSON array of hex strings.
func AppendHexList(to []byte, items [][]byte) []byte {
	to = append(to, '[')
	for i, item := range items {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, '"')
		to = hex.AppendEncode(to, item)
		to = append(to, '"')
	}
	return append(to, ']')
}
