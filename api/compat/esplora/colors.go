package esplora

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/tapyrus/coloredcoin"
	"birthmark/model"
)

// This file has the form of esplora-tapyrus, where it differs from that of electrs: outputs with colors, endpoints of
// colors, and headers with signatures.

func (p *protocol) coloredEndpoints() []exchange.Endpoint[*view] {
	return []exchange.Endpoint[*view]{
		get("colors", colors),
		get("colors/{last}", colors),
		get("color/{color}", oneColor),
		get("color/{color}/txs", p.colorTxs),
		get("color/{color}/txs/chain", p.confirmedColorTxs),
		get("color/{color}/txs/chain/{last}", p.confirmedColorTxs),
		get("color/{color}/txs/mempool", p.unconfirmedColorTxs),
		get("mempool/txs", p.mempoolTxs),
		get("mempool/txs/{start}", p.mempoolTxs),
	}
}

const colorsPerPage = 25

// colors returns a page of colors by their last use, the newest first, after the color last. Another text leads to
// the first page.
func colors(r *request) answer {
	text, _ := r.Arg("last")
	last, ok := coloredcoin.Parse(text)
	if !ok {
		last = nil
	}
	return func(v *view) (any, error) {
		uses, err := v.ColorsByUse(last, colorsPerPage)
		if err != nil {
			return nil, err
		}
		r.CacheFor(shortly)
		return exchange.List(func(yield func(*colorUseValue, error) bool) {
			for _, u := range uses {
				confirmed, unconfirmed, err := v.ColorStats(u.Color)
				value := &colorUseValue{
					colorStatsOf(u.Color, &confirmed), u.Color, u.Height, colorStatsOf(u.Color, &unconfirmed),
				}
				if !yield(value, err) {
					return
				}
			}
		}), nil
	}
}

// colorArg returns the color of the path.
func colorArg(r *request) []byte {
	text, _ := r.Arg("color")
	id, ok := coloredcoin.Parse(text)
	if !ok {
		r.Refuse(errorf(http.StatusBadRequest, "Invalid color id"))
	}
	return id
}

// oneColor returns the totals of a color. Those of a color that no transaction has are 0.
func oneColor(r *request) answer {
	id := colorArg(r)
	return func(v *view) (any, error) {
		confirmed, unconfirmed, err := v.ColorStats(id)
		r.CacheFor(shortly)
		return &colorValue{colorStatsOf(id, &confirmed), colorStatsOf(id, &unconfirmed)}, err
	}
}

// colorTxs returns confirmed transactions, newest first, then unconfirmed ones in the order of arrival.
func (p *protocol) colorTxs(r *request) answer {
	return p.listColorTxs(r, func(v *view, id []byte) ([]model.Hash, error) {
		ids, err := v.ColorTxs(nil, id, nil, txsPerPage)
		return v.PendingColorTxs(ids, id, mempoolTxs), err
	})
}

func (p *protocol) confirmedColorTxs(r *request) answer {
	last := lastArg(r)
	return p.listColorTxs(r, func(v *view, id []byte) ([]model.Hash, error) { return v.ColorTxs(nil, id, last, txsPerPage) })
}

func (p *protocol) unconfirmedColorTxs(r *request) answer {
	return p.listColorTxs(r, func(v *view, id []byte) ([]model.Hash, error) {
		return v.PendingColorTxs(nil, id, mempoolTxs), nil
	})
}

func (p *protocol) listColorTxs(r *request, list func(*view, []byte) ([]model.Hash, error)) answer {
	id := colorArg(r)
	return func(v *view) (any, error) {
		ids, err := list(v, id)
		if err != nil {
			return nil, err
		}
		r.CacheFor(shortly)
		return p.txs(v, ids)
	}
}

// mempoolTxs returns 25 unconfirmed transactions from a position on, the latest first. The header X-Total-Results has
// the number of all.
func (p *protocol) mempoolTxs(r *request) answer {
	text, _ := r.Arg("start")
	start, _ := number(text)
	return func(v *view) (any, error) {
		total := v.MempoolInfo().Count
		r.Header()["X-Total-Results"] = []string{strconv.Itoa(total)}
		r.CacheFor(recent)
		from := min(int(start), total)
		txs := v.MempoolRecent(min(from+txsPerPage, total))
		return p.recentOf(txs[min(from, len(txs)):]), nil
	}
}

type (
	colorUseValue struct {
		Chain   *colorStatsValue `json:"chain_stats"`
		Color   script.Hex       `json:"color_id"`
		Height  uint32           `json:"height"`
		Mempool *colorStatsValue `json:"mempool_stats"`
	}
	colorValue struct {
		Chain   *colorStatsValue `json:"chain_stats"`
		Mempool *colorStatsValue `json:"mempool_stats"`
	}
	colorStatsValue struct {
		BurnedSum      amount     `json:"burned_sum"`
		Burned         uint64     `json:"burned_tx_count"`
		Color          script.Hex `json:"color_id"`
		IssuedSum      amount     `json:"issued_sum"`
		Issued         uint64     `json:"issued_tx_count"`
		TransferredSum amount     `json:"transferred_sum"`
		Transferred    uint64     `json:"transferred_tx_count"`
		Txs            uint64     `json:"tx_count"`
	}
)

// amount is a number that can exceed 64 bits.
type amount model.Uint128

func (a amount) AppendJSON(b []byte) []byte {
	if a.Hi == 0 {
		return strconv.AppendUint(b, a.Lo, 10)
	}
	return append(b, model.Uint128(a).String()...)
}

func colorStatsOf(id []byte, s *wallet.ColorStats) *colorStatsValue {
	return &colorStatsValue{
		amount(s.BurnedSum), s.Burned, id, amount(s.IssuedSum), s.Issued, amount(s.TransferredSum), s.Transferred, s.Txs,
	}
}

// coloredScriptValue has the address or the script hash of the request.
type coloredScriptValue struct {
	Address    string       `json:"address,omitempty"`
	Chain      coloredStats `json:"chain_stats"`
	Mempool    coloredStats `json:"mempool_stats"`
	ScriptHash string       `json:"scripthash,omitempty"`
}

func coloredScriptOf(address, hash string, s *wallet.Script) (any, error) {
	confirmed, unconfirmed, err := s.ColoredStats()
	return &coloredScriptValue{address, confirmed, unconfirmed, hash}, err
}

// coloredStats are totals by color.
type coloredStats []wallet.ColoredStats

func (all coloredStats) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i := range all {
		s := &all[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(hex.AppendEncode(append(b, '"'), colorOf(s.Color)), `":{"funded_txo_count":`...)
		b = append(strconv.AppendUint(b, s.Funded, 10), `,"funded_txo_sum":`...)
		b = append(amount(s.FundedSum).AppendJSON(b), `,"spent_txo_count":`...)
		b = append(strconv.AppendUint(b, s.Spent, 10), `,"spent_txo_sum":`...)
		b = append(amount(s.SpentSum).AppendJSON(b), `,"tx_count":`...)
		b = append(strconv.AppendUint(b, s.Txs, 10), '}')
	}
	return append(b, '}')
}

// noColor stands for outputs without a color.
var noColor [coloredcoin.Size]byte

func colorOf(id []byte) []byte {
	if len(id) == 0 {
		return noColor[:]
	}
	return id
}

// colorText returns the member color_id of an unspent output.
func (p *protocol) colorText(id []byte) script.Hex {
	if !p.tapyrus {
		return nil
	}
	return colorOf(id)
}

func (p *protocol) tapyrusOutputOf(pkScript []byte, value uint64) outputValue {
	_, lock, colors := coloredcoin.Split(value, pkScript)
	v := outputValue{
		Script: pkScript, Asm: asm{pkScript, true}, Type: script.TapyrusType(lock, len(colors) > 0), Address: p.Address(lock), Value: value,
	}
	if len(colors) > 0 {
		v.Color = colors[0].ID
		v.Address = coloredcoin.Address(v.Address, v.Color)
	}
	return v
}

func isTapyrusCoinbase(tx *wire.MsgTx) bool {
	return len(tx.TxIn) == 1 && model.Hash(tx.TxIn[0].PreviousOutPoint.Hash) == model.Hash{}
}

type tapyrusBlockValue struct {
	ID         script.Hash  `json:"id"`
	Height     uint32       `json:"height"`
	Features   int32        `json:"features"`
	Time       int64        `json:"time"`
	TxCount    int          `json:"tx_count"`
	Size       int          `json:"size"`
	Weight     int          `json:"weight"`
	MerkleRoot script.Hash  `json:"merkle_root"`
	IDRoot     script.Hash  `json:"im_merkle_root"`
	Previous   *script.Hash `json:"previousblockhash"` // null: genesis
	Signature  *script.Hex  `json:"signature"`
	FieldType  byte         `json:"xfield_type"`
	Field      *script.Hex  `json:"xfield"` // with its type; null: none
}

// The fixed part of a header ends with the type of a field. The size of the signature and the signature follow the field.
const (
	idRootAt = 68
	fieldAt  = 104
)

func tapyrusBlockOf(b *wallet.Block) *tapyrusBlockValue {
	h := block.Header(b.Header)
	v := &tapyrusBlockValue{
		ID: script.Hash(b.Hash), Height: uint32(b.Height), Features: h.Version(), Time: b.Time, TxCount: b.TxCount,
		Size: b.Size, Weight: b.Weight, MerkleRoot: script.Hash(h.MerkleRoot()), IDRoot: script.Hash(h[idRootAt:]),
		FieldType: h[fieldAt],
	}
	if parent := h.Parent(); parent != (model.Hash{}) {
		previous := script.Hash(parent)
		v.Previous = &previous
	}
	rest, size := h[fieldAt+1:], 0
	switch v.FieldType {
	case 1: // a key
		n, at := block.Count(rest, 0)
		size = at + n
	case 2: // the maximum size of blocks
		size = 4
	}
	if size > 0 {
		field := script.Hex(h[fieldAt : fieldAt+1+size])
		v.Field = &field
	}
	if n, at := block.Count(rest, size); n > 0 {
		signature := script.Hex(rest[at : at+n])
		v.Signature = &signature
	}
	return v
}
