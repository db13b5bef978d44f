package electrum

import (
	"encoding/json"
	"math"
	"strconv"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// Results. The members are in the order of ElectrumX.

type featuresValue struct {
	Hosts         struct{}    `json:"hosts"`
	Genesis       script.Hash `json:"genesis_hash"`
	HashFunction  string      `json:"hash_function"`
	ServerVersion text        `json:"server_version"`
	Oldest        text        `json:"protocol_min"`
	Newest        text        `json:"protocol_max"`
	Pruning       *int        `json:"pruning"`
	Services      []string    `json:"services"`
}

type pongValue struct {
	Data string `json:"data"`
}

type tipValue struct {
	Header script.Hex `json:"hex"`
	Height uint32     `json:"height"`
}

type headerValue struct {
	Header script.Hex `json:"header"`
	*proofValue
}

// proofValue proves a header up to a checkpoint.
type proofValue struct {
	Branch []script.Hash `json:"branch"`
	Root   script.Hash   `json:"root"`
}

// headersValue are headers from version 1.6 on.
type headersValue struct {
	Headers []script.Hex `json:"headers"`
	headerCount
}

// oldHeadersValue are headers before version 1.6.
type oldHeadersValue struct {
	Headers script.Hex `json:"hex"`
	headerCount
}

type headerCount struct {
	Count int `json:"count"`
	Max   int `json:"max"`
	*proofValue
}

type mempoolInfoValue struct {
	Mempool   feeRate `json:"mempoolminfee"`
	Relay     feeRate `json:"minrelaytxfee"`
	Increment feeRate `json:"incrementalrelayfee"`
}

type balanceValue struct {
	Confirmed   int64 `json:"confirmed"`
	Unconfirmed int64 `json:"unconfirmed"` // can be negative
}

type historyValue struct {
	Tx     script.Hash `json:"tx_hash"`
	Height int64       `json:"height"`
	Fee    optional    `json:"fee,omitzero"` // of an unconfirmed one
}

type unspentValue struct {
	Tx     script.Hash `json:"tx_hash"`
	Index  uint32      `json:"tx_pos"`
	Height uint32      `json:"height"`
	Value  uint64      `json:"value"`
}

type firstUseValue struct {
	Block  script.Hash `json:"block_hash"`
	Height uint32      `json:"height"`
	Tx     script.Hash `json:"tx_hash"`
}

type merkleValue struct {
	Height uint32        `json:"block_height"`
	Branch []script.Hash `json:"merkle"`
	Index  int           `json:"pos"`
}

type txAtValue struct {
	Tx     script.Hash   `json:"tx_hash"`
	Branch []script.Hash `json:"merkle"`
}

type confirmedBlockValue struct {
	Block  script.Hash `json:"block_hash"`
	Height uint32      `json:"block_height"`
	Header *script.Hex `json:"block_header,omitempty"`
}

type packageValue struct {
	Success bool             `json:"success"`
	Errors  []packageFailure `json:"errors,omitempty"`
}

type packageFailure struct {
	Tx    text `json:"txid"`
	Error text `json:"error"`
}

type outputValue struct {
	Height optional    `json:"confirmed_height,omitzero"`
	Script script.Hash `json:"scripthash"`
	Value  int64       `json:"value"`
}

// pointStatus is the status of an output: version 1.7 of the protocol has each member only if it applies.
type pointStatus struct {
	Funder        optional    `json:"funder_height,omitzero"`
	Spender       script.Hash `json:"spender_txhash,omitzero"`
	SpenderHeight optional    `json:"spender_height,omitzero"`
}

// optional is an integer that can be absent.
type optional struct {
	is    bool
	value int64
}

// IsZero is read by [jsonappend.Append].
func (o optional) IsZero() bool { return !o.is }

// AppendJSON implements [jsonappend.Value].
func (o optional) AppendJSON(b []byte) []byte { return strconv.AppendInt(b, o.value, 10) }

// heightOf returns the height of a transaction as histories have it.
func heightOf(p *wallet.Place) optional {
	if p.Confirmed {
		return optional{true, int64(p.Height)}
	}
	return optional{true, mempoolHeight(p.UnconfirmedParent)}
}

// mempoolHeight returns the height of an unconfirmed transaction: 0, or -1 if it spends an unconfirmed one.
func mempoolHeight(unconfirmedParent bool) int64 {
	if unconfirmedParent {
		return -1
	}
	return 0
}

// feeRate is a rate in satoshi per 1,000 virtual bytes. Its JSON is in BTC.
type feeRate float64

// AppendJSON implements [jsonappend.Value].
func (r feeRate) AppendJSON(b []byte) []byte {
	return script.AppendBTC(b, int64(math.Round(float64(r))))
}

// feeBin is a bin of the histogram. Its JSON is [rate, virtual size].
type feeBin struct {
	tenths int64 // of a satoshi per virtual byte: the lowest rate of the bin, rounded down
	size   uint64
}

// AppendJSON implements [jsonappend.Value].
func (f feeBin) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, '['), f.tenths/10, 10)
	b = append(b, '.', byte('0'+f.tenths%10), ',')
	return append(strconv.AppendUint(b, f.size, 10), ']')
}

// status is the status of a script; the zero status is that of a script without history.
type status struct {
	hash  [32]byte
	used  bool // the script has a history
	known bool // false: not computed
}

// AppendJSON implements [jsonappend.Value].
func (s status) AppendJSON(b []byte) []byte {
	if !s.used {
		return append(b, "null"...)
	}
	return script.Hex(s.hash[:]).AppendJSON(b)
}

// text is a string whose JSON has escapes for HTML, too.
type text string

// AppendJSON implements [jsonappend.Value].
func (t text) AppendJSON(b []byte) []byte {
	quoted, _ := json.Marshal(string(t)) // cannot fail
	return append(b, quoted...)
}

// display returns a hash as it is displayed.
func display(h model.Hash) []byte { return script.AppendHash(nil, h) }
