package esplora

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// The writers of objects append JSON in the order of the keys of electrs.

func (q *request) str(s string) { q.out = append(q.out, s...) }

// num appends a key with its punctuation, and a number.
func (q *request) num(key string, n uint64) {
	q.out = strconv.AppendUint(append(q.out, key...), n, 10)
}

// id appends a key with its punctuation, and a hash in quotes.
func (q *request) id(key string, h model.Hash) {
	q.out = append(append(q.out, key...), '"')
	q.out = append(script.AppendHash(q.out, h), '"')
}

// hexOf appends a key with its punctuation, and bytes as hex in quotes.
func (q *request) hexOf(key string, b []byte) {
	q.out = append(append(q.out, key...), '"')
	q.out = append(hex.AppendEncode(q.out, b), '"')
}

// asm appends a key with its punctuation, and a disassembled script in quotes.
func (q *request) asm(key string, s []byte) {
	q.out = append(append(q.out, key...), '"')
	q.out = append(script.AppendAsm(q.out, s), '"')
}

// list appends an array. item appends the i-th of n entries.
func (q *request) list(n int, item func(i int)) {
	q.out = append(q.out, '[')
	for i := range n {
		if i > 0 {
			q.out = append(q.out, ',')
		}
		item(i)
	}
	q.out = append(q.out, ']')
}

func (q *request) ids(ids []model.Hash) {
	q.list(len(ids), func(i int) { q.id("", ids[i]) })
}

// float appends a number with a decimal point, also if it is whole: strict clients read 1 as an integer.
func (q *request) float(f float64) {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-5 || a >= 1e16) {
		format = 'e'
	}
	start := len(q.out)
	q.out = strconv.AppendFloat(q.out, f, format, -1, 64)
	for _, c := range q.out[start:] {
		if c == '.' || c == 'e' {
			return
		}
	}
	q.out = append(q.out, ".0"...)
}

// difficulty returns how much harder a compact target is than the easiest one of mainnet.
func difficulty(bits uint32) float64 {
	mantissa, exponent := float64(bits&0xffffff), int(bits>>24)
	if mantissa == 0 {
		return 0
	}
	return math.Ldexp(0xffff/mantissa, 8*(29-exponent))
}

func (q *request) block(b *wallet.Block) {
	h := block.Header(b.Header)
	q.id(`{"id":`, b.Hash)
	q.num(`,"height":`, uint64(b.Height))
	q.num(`,"version":`, uint64(uint32(h.Version())))
	q.num(`,"timestamp":`, uint64(h.Time()))
	q.num(`,"tx_count":`, uint64(b.TxCount))
	q.num(`,"size":`, uint64(b.Size))
	q.num(`,"weight":`, uint64(b.Weight))
	q.id(`,"merkle_root":`, h.MerkleRoot())
	if parent := h.Parent(); parent == (model.Hash{}) {
		q.str(`,"previousblockhash":null`)
	} else {
		q.id(`,"previousblockhash":`, parent)
	}
	q.num(`,"mediantime":`, uint64(b.MedianTime))
	q.num(`,"nonce":`, uint64(h.Nonce()))
	q.num(`,"bits":`, uint64(h.Bits()))
	q.str(`,"difficulty":`)
	q.float(difficulty(h.Bits()))
	q.str("}")
}

// status appends the status of a transaction.
func (q *request) status(p wallet.Place) {
	if !p.Confirmed {
		q.str(`{"confirmed":false}`)
		return
	}
	q.num(`{"confirmed":true,"block_height":`, uint64(p.Height))
	q.id(`,"block_hash":`, p.BlockHash)
	q.num(`,"block_time":`, uint64(p.BlockTime))
	q.str("}")
}

// headerInfo has the fields of a block that a status needs.
type headerInfo struct {
	hash model.Hash
	time uint32
}

// placeAt returns the place of a transaction in the block at a height. Blocks of one request are read once.
func (q *request) placeAt(height uint32) (wallet.Place, error) {
	info, ok := q.headers[height]
	if !ok {
		header, err := q.view.Header(height)
		if err != nil {
			return wallet.Place{}, err
		}
		info = headerInfo{block.Header(header).Hash(), binary.LittleEndian.Uint32(header[68:])}
		if q.headers == nil {
			q.headers = map[uint32]headerInfo{}
		}
		q.headers[height] = info
	}
	return wallet.Place{Confirmed: true, Height: height, BlockHash: info.hash, BlockTime: int64(info.time)}, nil
}

// txs appends an array of transactions.
func (q *request) txs(txs []*wallet.Tx) {
	q.str("[")
	for i, tx := range txs {
		if i > 0 {
			q.str(",")
		}
		q.tx(tx)
	}
	q.str("]")
}

func (q *request) tx(tx *wallet.Tx) {
	m := tx.Msg
	q.id(`{"txid":`, tx.ID)
	q.num(`,"version":`, uint64(uint32(m.Version)))
	q.num(`,"locktime":`, uint64(m.LockTime))
	q.str(`,"vin":`)
	coinbase := script.IsCoinbase(m)
	q.list(len(m.TxIn), func(i int) {
		var spent *wallet.Output
		if !coinbase && i < len(tx.Prevouts) {
			spent = &tx.Prevouts[i]
		}
		q.input(m.TxIn[i], spent, coinbase)
	})
	q.str(`,"vout":`)
	q.list(len(m.TxOut), func(i int) { q.output(m.TxOut[i].PkScript, uint64(m.TxOut[i].Value)) })
	q.num(`,"size":`, uint64(len(tx.Raw)))
	q.num(`,"weight":`, uint64(tx.Weight))
	q.num(`,"fee":`, tx.Fee)
	q.str(`,"status":`)
	q.status(tx.Place)
	q.str("}")
}

// input appends an input; spent is nil for a coinbase.
func (q *request) input(in *wire.TxIn, spent *wallet.Output, coinbase bool) {
	q.id(`{"txid":`, model.Hash(in.PreviousOutPoint.Hash))
	q.num(`,"vout":`, uint64(in.PreviousOutPoint.Index))
	q.str(`,"prevout":`)
	var redeem, witnessScript []byte
	if spent == nil {
		q.str("null")
	} else {
		q.output(spent.Script, spent.Value)
		redeem, witnessScript = script.Inner(spent.Script, in.SignatureScript, in.Witness)
	}
	q.hexOf(`,"scriptsig":`, in.SignatureScript)
	q.asm(`,"scriptsig_asm":`, in.SignatureScript)
	if len(in.Witness) > 0 {
		q.str(`,"witness":`)
		q.out = script.AppendHexList(q.out, in.Witness)
	}
	q.str(`,"is_coinbase":`)
	q.out = strconv.AppendBool(q.out, coinbase)
	q.num(`,"sequence":`, uint64(in.Sequence))
	if redeem != nil {
		q.asm(`,"inner_redeemscript_asm":`, redeem)
	}
	if witnessScript != nil {
		q.asm(`,"inner_witnessscript_asm":`, witnessScript)
	}
	q.str("}")
}

func (q *request) output(pkScript []byte, value uint64) {
	q.hexOf(`{"scriptpubkey":`, pkScript)
	q.asm(`,"scriptpubkey_asm":`, pkScript)
	q.str(`,"scriptpubkey_type":"`)
	q.str(script.EsploraType(pkScript))
	if address := q.Chain.Address(pkScript); address != "" {
		q.str(`","scriptpubkey_address":"`)
		q.str(address)
	}
	q.num(`","value":`, value)
	q.str("}")
}

// spender appends which input spends an output; nil: none.
func (q *request) spender(s *wallet.Spender) {
	if s == nil {
		q.str(`{"spent":false}`)
		return
	}
	q.id(`{"spent":true,"txid":`, s.Tx)
	q.num(`,"vin":`, uint64(s.Input))
	q.str(`,"status":`)
	q.status(s.Place)
	q.str("}")
}

func (q *request) spenders(all []*wallet.Spender) {
	q.list(len(all), func(i int) { q.spender(all[i]) })
}

// stats appends totals of a script.
func (q *request) stats(s wallet.Stats) {
	q.num(`{"funded_txo_count":`, s.Funded)
	q.num(`,"funded_txo_sum":`, s.FundedSum)
	q.num(`,"spent_txo_count":`, s.Spent)
	q.num(`,"spent_txo_sum":`, s.SpentSum)
	q.num(`,"tx_count":`, s.Txs)
	q.str("}")
}
