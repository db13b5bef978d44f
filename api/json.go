package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"birthmark/core/query"
)

// Each function appends the JSON of encoding/json without escapes for HTML; a test compares them.

func appendTx(b []byte, a *query.TxAnswer) []byte {
	b = appendText(append(b, `{"chain":`...), a.Chain)
	b = appendText(append(b, `,"hash":`...), a.Hash)
	b = appendInt(append(b, `,"height":`...), a.Height)
	b = appendInt(append(b, `,"index":`...), a.Index)
	if a.BlockHash != "" {
		b = appendText(append(b, `,"block_hash":`...), a.BlockHash)
	}
	if a.Time != 0 {
		b = appendInt(append(b, `,"time":`...), a.Time)
	}
	b = strconv.AppendBool(append(b, `,"coinbase":`...), a.Coinbase)
	if a.Fee != "" {
		b = appendText(append(b, `,"fee":`...), a.Fee)
	}
	b = appendList(append(b, `,"inputs":`...), a.Inputs, func(b []byte, in *query.InputAnswer) []byte {
		b = appendInt(append(b, `{"index":`...), in.Index)
		return append(appendOutput(append(b, `,"output":`...), &in.Output), '}')
	})
	b = appendList(append(b, `,"outputs":`...), a.Outputs, appendOutput)
	if len(a.Mints) > 0 {
		b = appendList(append(b, `,"mints":`...), a.Mints, func(b []byte, m *query.MintAnswer) []byte {
			b = appendText(append(b, `{"asset":`...), m.Asset)
			return append(appendText(append(b, `,"amount":`...), m.Amount), '}')
		})
	}
	return append(b, '}')
}

func appendOutput(b []byte, a *query.OutputAnswer) []byte {
	b = appendText(append(b, `{"tx":`...), a.Tx)
	b = appendInt(append(b, `,"index":`...), a.Index)
	b = appendInt(append(b, `,"height":`...), a.Height)
	b = appendInt(append(b, `,"tx_index":`...), a.TxIndex)
	b = appendText(append(b, `,"value":`...), a.Value)
	b = appendKeys(append(b, `,"keys":`...), a.Keys)
	if len(a.Assets) > 0 {
		b = appendList(append(b, `,"assets":`...), a.Assets, func(b []byte, e *query.AssetEntryAnswer) []byte {
			b = appendText(append(b, `{"asset":`...), e.Asset)
			b = appendText(append(b, `,"amount":`...), e.Amount)
			return append(appendText(append(b, `,"action":`...), e.Action), '}')
		})
	}
	if a.SpentBy != nil {
		b = appendSpentBy(append(b, `,"spent_by":`...), a.SpentBy.Value)
	}
	return append(b, '}')
}

func appendSpentBy(b []byte, a *query.SpentByAnswer) []byte {
	if a == nil {
		return append(b, "null"...)
	}
	b = append(b, `{"tx":`...)
	if strings.ContainsAny(a.Tx, "<>&") { // MarshalJSON methods escape HTML
		text, err := json.Marshal(a.Tx)
		if err != nil { // cannot fail
			panic(err)
		}
		b = append(b, text...)
	} else {
		b = appendText(b, a.Tx)
	}
	b = appendInt(append(b, `,"input":`...), a.Input)
	return append(appendInt(append(b, `,"height":`...), a.Height), '}')
}

// appendKeys writes the values of indexes sorted by index name.
func appendKeys(b []byte, keys map[string]any) []byte {
	if keys == nil {
		return append(b, "null"...)
	}
	var few [8]string // avoids an allocation for most outputs
	names := few[:0]
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		switch v := keys[name].(type) {
		case string:
			b = appendText(b, v)
		case []string:
			b = appendList(b, v, func(b []byte, s *string) []byte { return appendText(b, *s) })
		default:
			b = appendAny(b, v)
		}
	}
	return append(b, '}')
}

func appendFind(b []byte, a *query.FindAnswer) []byte {
	b = appendText(append(b, `{"index":`...), a.Index)
	b = appendText(append(b, `,"value":`...), a.Value)
	if len(a.And) > 0 {
		b = appendList(append(b, `,"and":`...), a.And, appendTerm)
	}
	if len(a.Or) > 0 {
		b = appendList(append(b, `,"or":`...), a.Or, appendTerm)
	}
	b = appendFirstSeen(b, a.FirstSeen)
	b = appendList(append(b, `,"outputs":`...), a.Outputs, appendOutput)
	return appendNext(b, a.Next)
}

// appendFirstSeen writes the first occurrence of a value, or null.
func appendFirstSeen(b []byte, a *query.FirstSeenAnswer) []byte {
	if a == nil {
		return append(b, `,"first_seen":null`...)
	}
	b = appendText(append(b, `,"first_seen":{"tx":`...), a.Tx)
	b = appendInt(append(b, `,"index":`...), a.Index)
	return append(appendInt(append(b, `,"height":`...), a.Height), '}')
}

func appendTerm(b []byte, t *query.Term) []byte {
	b = appendText(append(b, `{"index":`...), t.Index)
	return append(appendText(append(b, `,"value":`...), t.Value), '}')
}

func appendHistory(b []byte, a *query.HistoryAnswer) []byte {
	b = appendText(append(b, `{"index":`...), a.Index)
	b = appendText(append(b, `,"value":`...), a.Value)
	b = appendFirstSeen(b, a.FirstSeen)
	b = appendList(append(b, `,"txs":`...), a.Txs, appendHistoryTx)
	return appendNext(b, a.Next)
}

func appendHistoryTx(b []byte, a *query.HistoryTxAnswer) []byte {
	b = appendText(append(b, `{"hash":`...), a.Hash)
	b = appendInt(append(b, `,"height":`...), a.Height)
	b = appendInt(append(b, `,"index":`...), a.Index)
	b = appendText(append(b, `,"received":`...), a.Received)
	return append(appendText(append(b, `,"sent":`...), a.Sent), '}')
}

func appendBalance(b []byte, a *query.BalanceAnswer) []byte {
	b = appendText(append(b, `{"index":`...), a.Index)
	b = appendText(append(b, `,"value":`...), a.Value)
	b = appendText(append(b, `,"balance":`...), a.Balance)
	b = appendText(append(b, `,"received":`...), a.Received)
	b = appendText(append(b, `,"sent":`...), a.Sent)
	b = appendInt(append(b, `,"tx_count":`...), a.TxCount)
	b = appendInt(append(b, `,"output_count":`...), a.OutputCount)
	b = appendInt(append(b, `,"unspent_count":`...), a.UnspentCount)
	b = appendList(append(b, `,"assets":`...), a.Assets, func(b []byte, h *query.AssetBalanceAnswer) []byte {
		b = appendText(append(b, `{"asset":`...), h.Asset)
		return append(appendText(append(b, `,"balance":`...), h.Balance), '}')
	})
	return append(b, '}')
}

// appendBlock writes a block up to its header.
func appendBlock(b []byte, a *query.BlockAnswer) []byte {
	b = appendText(append(b, `{"chain":`...), a.Chain)
	b = appendInt(append(b, `,"height":`...), a.Height)
	b = appendText(append(b, `,"hash":`...), a.Hash)
	if a.PrevHash != "" {
		b = appendText(append(b, `,"prev_hash":`...), a.PrevHash)
	}
	b = appendInt(append(b, `,"time":`...), a.Time)
	b = appendInt(append(b, `,"size":`...), a.Size)
	b = appendInt(append(b, `,"tx_count":`...), a.TxCount)
	return appendList(append(b, `,"txs":`...), a.Txs, func(b []byte, s *string) []byte { return appendText(b, *s) })
}

// appendNext ends a page.
func appendNext(b []byte, next *string) []byte {
	b = append(b, `,"next":`...)
	if next == nil {
		return append(b, "null}"...)
	}
	return append(appendText(b, *next), '}')
}

func appendList[E any](b []byte, list []E, one func([]byte, *E) []byte) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &list[i])
	}
	return append(b, ']')
}

// orNone wraps one for lists with null entries.
func orNone[E any](one func([]byte, *E) []byte) func([]byte, **E) []byte {
	return func(b []byte, e **E) []byte {
		if *e == nil {
			return append(b, "null"...)
		}
		return one(b, *e)
	}
}

func appendInt[N ~int | ~int64 | ~uint32 | ~uint64](b []byte, n N) []byte {
	if n < 0 {
		return strconv.AppendInt(b, int64(n), 10)
	}
	return strconv.AppendUint(b, uint64(n), 10)
}

// appendText writes a string.
func appendText(b []byte, s string) []byte {
	if !plain(s) {
		return appendAny(b, s)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// plain reports whether a string is ASCII without escapes. It examines eight bytes at a time, since most strings are
// hashes.
func plain(s string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		quote, slash := x^ones*'"', x^ones*'\\'
		// Sets the high bit of bytes that are not ASCII, below space, a quote or a backslash; false positives only above one.
		if (x|(x-ones*' ')|(quote-ones)&^quote|(slash-ones)&^slash)&high != 0 {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendAny writes strings and lists of strings.
func appendAny(b []byte, v any) []byte {
	var general bytes.Buffer
	e := json.NewEncoder(&general)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // cannot fail
		panic(err)
	}
	return append(b, general.Bytes()[:general.Len()-1]...)
}
