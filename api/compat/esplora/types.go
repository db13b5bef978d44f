package esplora

import (
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// The members of answers are in the order of electrs.

type blockValue struct {
	ID         script.Hash  `json:"id"`
	Height     uint32       `json:"height"`
	Version    uint32       `json:"version"`
	Timestamp  uint32       `json:"timestamp"`
	TxCount    int          `json:"tx_count"`
	Size       int          `json:"size"`
	Weight     int          `json:"weight"`
	MerkleRoot script.Hash  `json:"merkle_root"`
	Previous   *script.Hash `json:"previousblockhash"` // null: genesis
	MedianTime int64        `json:"mediantime"`
	Nonce      uint32       `json:"nonce"`
	Bits       uint32       `json:"bits"`
	Difficulty script.Float `json:"difficulty"`
}

func (p *protocol) blockOf(b *wallet.Block) any {
	if p.tapyrus {
		return tapyrusBlockOf(b)
	}
	h := block.Header(b.Header)
	v := &blockValue{
		ID: script.Hash(b.Hash), Height: uint32(b.Height), Version: uint32(h.Version()), Timestamp: h.Time(),
		TxCount: b.TxCount, Size: b.Size, Weight: b.Weight, MerkleRoot: script.Hash(h.MerkleRoot()),
		MedianTime: b.MedianTime, Nonce: h.Nonce(), Bits: h.Bits(), Difficulty: script.Difficulty(h.Bits()),
	}
	if parent := h.Parent(); parent != (model.Hash{}) {
		previous := script.Hash(parent)
		v.Previous = &previous
	}
	return v
}

type blockStatusValue struct {
	InBestChain bool         `json:"in_best_chain"`
	Height      *uint32      `json:"height"`
	NextBest    *script.Hash `json:"next_best"`
}

type statusValue struct {
	Confirmed bool `json:"confirmed"`
	*placeValue
}

type placeValue struct {
	Height    uint32      `json:"block_height"`
	BlockHash script.Hash `json:"block_hash"`
	BlockTime int64       `json:"block_time"`
}

func statusOf(p wallet.Place) statusValue {
	if !p.Confirmed {
		return statusValue{}
	}
	return statusValue{true, &placeValue{p.Height, script.Hash(p.BlockHash), p.BlockTime}}
}

// placeAt returns the place of a transaction in the block at a height. Blocks of one request are read once.
func (v *view) placeAt(height uint32) (wallet.Place, error) {
	at, ok := v.places[height]
	if !ok {
		var err error
		if at, err = v.BlockPlace(height); err != nil {
			return at, err
		}
		if v.places == nil {
			v.places = map[uint32]wallet.Place{}
		}
		v.places[height] = at
	}
	return at, nil
}

type txValue struct {
	ID       script.Hash   `json:"txid"`
	Version  int64         `json:"version"`
	LockTime uint32        `json:"locktime"`
	Inputs   []inputValue  `json:"vin"`
	Outputs  []outputValue `json:"vout"`
	Size     int           `json:"size"`
	Weight   int           `json:"weight"`
	Fee      uint64        `json:"fee"`
	Status   statusValue   `json:"status"`
}

type inputValue struct {
	Tx            script.Hash  `json:"txid"`
	Index         uint32       `json:"vout"`
	Prevout       *outputValue `json:"prevout"` // null: of a coinbase
	ScriptSig     script.Hex   `json:"scriptsig"`
	ScriptSigAsm  asm          `json:"scriptsig_asm"`
	Witness       []script.Hex `json:"witness,omitempty"`
	Coinbase      bool         `json:"is_coinbase"`
	Sequence      uint32       `json:"sequence"`
	Redeem        asm          `json:"inner_redeemscript_asm,omitzero"`
	WitnessScript asm          `json:"inner_witnessscript_asm,omitzero"`
}

// asm is a disassembled script.
type asm struct {
	script  []byte
	tapyrus bool
}

// IsZero reports that there is no script. An empty one is not nil.
func (a asm) IsZero() bool { return a.script == nil }

func (a asm) AppendJSON(b []byte) []byte {
	if a.tapyrus {
		return append(script.AppendTapyrusAsm(append(b, '"'), a.script), '"')
	}
	return append(script.AppendAsm(append(b, '"'), a.script), '"')
}

type outputValue struct {
	Script  script.Hex `json:"scriptpubkey"`
	Asm     asm        `json:"scriptpubkey_asm"`
	Type    string     `json:"scriptpubkey_type"`
	Address string     `json:"scriptpubkey_address,omitempty"`
	Value   uint64     `json:"value"` // of a colored output: the amount of the color
	Color   script.Hex `json:"color_id,omitempty"`
}

func (p *protocol) txOf(tx *wallet.Tx) *txValue {
	m, coinbase, version := tx.Msg, script.IsCoinbase(tx.Msg), int64(uint32(tx.Msg.Version))
	if p.tapyrus {
		coinbase, version = isTapyrusCoinbase(m), int64(m.Version)
	}
	v := &txValue{
		ID: script.Hash(tx.ID), Version: version, LockTime: m.LockTime,
		Inputs: make([]inputValue, len(m.TxIn)), Outputs: make([]outputValue, len(m.TxOut)),
		Size: len(tx.Raw), Weight: tx.Weight, Fee: tx.Fee, Status: statusOf(tx.Place),
	}
	for i, in := range m.TxIn {
		var spent *wallet.Output
		if !coinbase && i < len(tx.Prevouts) {
			spent = &tx.Prevouts[i]
		}
		v.Inputs[i] = p.inputOf(in, spent, coinbase)
	}
	for i, out := range m.TxOut {
		v.Outputs[i] = p.outputOf(out.PkScript, uint64(out.Value))
	}
	return v
}

// inputOf returns an input; spent is nil for a coinbase.
func (p *protocol) inputOf(in *wire.TxIn, spent *wallet.Output, coinbase bool) inputValue {
	v := inputValue{
		Tx: script.Hash(in.PreviousOutPoint.Hash), Index: in.PreviousOutPoint.Index,
		ScriptSig: in.SignatureScript, ScriptSigAsm: asm{in.SignatureScript, p.tapyrus}, Coinbase: coinbase, Sequence: in.Sequence,
	}
	if spent != nil {
		out := p.outputOf(spent.Script, spent.Value)
		redeem, witnessScript := script.Inner(spent.Script, in.SignatureScript, in.Witness)
		v.Prevout, v.Redeem, v.WitnessScript = &out, asm{redeem, p.tapyrus}, asm{witnessScript, p.tapyrus}
	}
	if len(in.Witness) > 0 {
		v.Witness = make([]script.Hex, len(in.Witness))
		for i, item := range in.Witness {
			v.Witness[i] = item
		}
	}
	return v
}

func (p *protocol) outputOf(pkScript []byte, value uint64) outputValue {
	if p.tapyrus {
		return p.tapyrusOutputOf(pkScript, value)
	}
	return outputValue{pkScript, asm{pkScript, false}, script.EsploraType(pkScript), p.Address(pkScript), value, nil}
}

// spenderValue is the input that spends an output.
type spenderValue struct {
	Spent bool `json:"spent"`
	*spendingValue
}

type spendingValue struct {
	Tx     script.Hash `json:"txid"`
	Input  int         `json:"vin"`
	Status statusValue `json:"status"`
}

func spenderOf(s *wallet.Spender) spenderValue {
	if s == nil {
		return spenderValue{}
	}
	return spenderValue{true, &spendingValue{script.Hash(s.Tx), s.Input, statusOf(s.Place)}}
}

func spendersOf(all []*wallet.Spender) []spenderValue {
	values := make([]spenderValue, len(all))
	for i, s := range all {
		values[i] = spenderOf(s)
	}
	return values
}

type proofValue struct {
	Height uint32        `json:"block_height"`
	Merkle []script.Hash `json:"merkle"`
	Pos    int           `json:"pos"`
}

// scriptValue has the address or the script hash of the request.
type scriptValue struct {
	Address    string     `json:"address,omitempty"`
	Chain      statsValue `json:"chain_stats"`
	Mempool    statsValue `json:"mempool_stats"`
	ScriptHash string     `json:"scripthash,omitempty"`
}

type statsValue struct {
	Funded    uint64 `json:"funded_txo_count"`
	FundedSum uint64 `json:"funded_txo_sum"`
	Spent     uint64 `json:"spent_txo_count"`
	SpentSum  uint64 `json:"spent_txo_sum"`
	Txs       uint64 `json:"tx_count"`
}

func statsOf(s wallet.Stats) statsValue {
	return statsValue{s.Funded, s.FundedSum, s.Spent, s.SpentSum, s.Txs}
}

// changeValue is the net change that a transaction makes to scripts.
type changeValue struct {
	Tx       script.Hash `json:"txid"`
	Height   uint32      `json:"height"`
	Value    int64       `json:"value"`
	Time     int64       `json:"time"`
	Position int         `json:"tx_position"` // in the block
}

type unspentValue struct {
	Tx     script.Hash `json:"txid"`
	Index  uint32      `json:"vout"`
	Status statusValue `json:"status"`
	Value  uint64      `json:"value"`
	Color  script.Hex  `json:"color_id,omitempty"`
}

type mempoolValue struct {
	Count     int    `json:"count"`
	VSize     uint64 `json:"vsize"`
	Fees      uint64 `json:"total_fee"`
	Histogram []bin  `json:"fee_histogram"`
}

// bin is the lowest fee rate of a part of the mempool and its virtual bytes.
type bin struct {
	rate script.Float
	size uint64
}

func (n *bin) AppendJSON(b []byte) []byte {
	b = append(n.rate.AppendJSON(append(b, '[')), ',')
	return append(strconv.AppendUint(b, n.size, 10), ']')
}

type recentValue struct {
	Tx    script.Hash `json:"txid"`
	Fee   uint64      `json:"fee"`
	VSize int         `json:"vsize"`
	Time  *int64      `json:"time,omitempty"` // of Tapyrus
	Value uint64      `json:"value"`
}

// feesValue has fee rates in satoshi per virtual byte by confirmation target.
type feesValue map[int]float64

func (f *feesValue) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for _, n := range targets {
		rate, ok := (*f)[n]
		if !ok {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, '"'), int64(n), 10), `":`...)
		b = script.Float(rate / 1000).AppendJSON(b)
	}
	return append(b, '}')
}

type recommendedValue struct {
	Fastest  uint64 `json:"fastestFee"`
	HalfHour uint64 `json:"halfHourFee"`
	Hour     uint64 `json:"hourFee"`
	Economy  uint64 `json:"economyFee"`
	Minimum  uint64 `json:"minimumFee"`
}
