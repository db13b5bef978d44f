package kupo

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/api/jsonappend"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// The members of answers are in the order of Kupo.

type matchValue struct {
	TxIndex   int        `json:"transaction_index"`
	Tx        hash       `json:"transaction_id"`
	Index     int        `json:"output_index"`
	Address   string     `json:"address"`
	Value     valueValue `json:"value"`
	DatumHash digits     `json:"datum_hash"`
	DatumType string     `json:"datum_type,omitempty"` // inline or hash
	*datumValue
	ScriptHash digits `json:"script_hash"`
	*resolvedScript
	Created pointValue  `json:"created_at"`
	Spent   *spentValue `json:"spent_at"`
}

type valueValue struct {
	Coins  amount `json:"coins"`
	Assets assets `json:"assets"`
}

type datumValue struct {
	Datum optionalHex `json:"datum"`
}

type resolvedScript struct {
	Script *scriptValue `json:"script"`
}

type scriptValue struct {
	Language string    `json:"language"`
	Script   hexDigits `json:"script"`
}

func scriptOf(s *ledger.Script) *scriptValue {
	if s == nil {
		return nil
	}
	return &scriptValue{strings.Replace(s.LanguageName(), "_", ":", 1), s.Code}
}

type pointValue struct {
	Slot uint64 `json:"slot_no"`
	Hash hash   `json:"header_hash"`
}

func pointOf(p utxo.Point) pointValue { return pointValue{p.Slot, hash(p.Hash)} }

// spentValue is the input that spends an output.
type spentValue struct {
	pointValue
	Tx       hash        `json:"transaction_id"`
	Input    int         `json:"input_index"` // in the sorted inputs
	Redeemer optionalHex `json:"redeemer"`
}

// amount is a number, or a string for clients whose numbers are imprecise.
type amount struct {
	n      uint64
	quoted bool
}

func (a *amount) AppendJSON(b []byte) []byte {
	if !a.quoted {
		return strconv.AppendUint(b, a.n, 10)
	}
	return append(strconv.AppendUint(append(b, '"'), a.n, 10), '"')
}

// assets are amounts by POLICY.NAME.
type assets struct {
	all    []utxo.Asset
	quoted bool
}

func (v *assets) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, a := range v.all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '"'), a.ID[:2*address.PolicySize]...)
		if name := a.ID[2*address.PolicySize:]; name != "" {
			b = append(append(b, '.'), name...)
		}
		b = (&amount{a.Amount, v.quoted}).AppendJSON(append(b, `":`...))
	}
	return append(b, '}')
}

type hash model.Hash

func (h *hash) AppendJSON(b []byte) []byte { return hexDigits(h[:]).AppendJSON(b) }

// digits are hex digits; empty: null.
type digits string

func (d *digits) AppendJSON(b []byte) []byte {
	if *d == "" {
		return append(b, "null"...)
	}
	return append(append(append(b, '"'), *d...), '"')
}

// hexDigits are bytes in hex.
type hexDigits []byte

func (x hexDigits) AppendJSON(b []byte) []byte {
	return append(hex.AppendEncode(append(b, '"'), x), '"')
}

// optionalHex is null without bytes.
type optionalHex []byte

func (x optionalHex) AppendJSON(b []byte) []byte {
	if x == nil {
		return append(b, "null"...)
	}
	return hexDigits(x).AppendJSON(b)
}

// metadataValue is the metadata of a transaction.
type metadataValue struct {
	Hash   hash      `json:"hash"`
	Raw    hexDigits `json:"raw"`
	Schema labels    `json:"schema"`
}

// labels has the values of labels in their order.
type labels []labelled

type labelled struct {
	label uint64
	value any
}

func (all labels) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, l := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendUint(append(b, '"'), l.label, 10), `":`...)
		b = jsonappend.Append(b, l.value)
	}
	return append(b, '}')
}

// Values of metadata.
type (
	intValue struct {
		Int integer `json:"int"`
	}
	bytesValue struct {
		Bytes hexDigits `json:"bytes"`
	}
	stringValue struct {
		String escaped `json:"string"`
	}
	listValue struct {
		List []any `json:"list"`
	}
	mapValue struct {
		Map []pairValue `json:"map"`
	}
	pairValue struct {
		Key   any `json:"k"`
		Value any `json:"v"`
	}
)

// integer is a number of any size in decimal.
type integer string

func (n integer) AppendJSON(b []byte) []byte { return append(b, n...) }

// escaped is text in which the signs of HTML are escaped, too.
type escaped string

func (s escaped) AppendJSON(b []byte) []byte {
	text, err := json.Marshal(string(s))
	if err != nil {
		panic(err) // impossible: every string has a JSON form
	}
	return append(b, text...)
}

// deletedValue is the answer to the deletion of a pattern.
type deletedValue struct {
	Deleted int `json:"deleted"`
}

// healthValue is the state of the server. Unknown members are null.
type healthValue struct {
	Connection    string    `json:"connection_status"`
	Checkpoint    *uint64   `json:"most_recent_checkpoint"`
	NodeTip       *uint64   `json:"most_recent_node_tip"`
	Lag           *int64    `json:"seconds_since_last_block"`
	Progress      *progress `json:"network_synchronization"`
	Configuration struct {
		Indexes string `json:"indexes"`
	} `json:"configuration"`
	Version string `json:"version"`
}

// progress is a part of 1 with five decimals.
type progress float64

func (p progress) AppendJSON(b []byte) []byte { return fmt.Appendf(b, "%.5f", float64(p)) }
