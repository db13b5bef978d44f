package esplora_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/internal/testnode/bitcointest"
)

// The objects of the API, in the order of their keys.
type (
	blockJSON struct {
		ID         string      `json:"id"`
		Height     int         `json:"height"`
		Version    uint32      `json:"version"`
		Timestamp  int64       `json:"timestamp"`
		TxCount    int         `json:"tx_count"`
		Size       int         `json:"size"`
		Weight     int         `json:"weight"`
		MerkleRoot string      `json:"merkle_root"`
		Previous   *string     `json:"previousblockhash"`
		MedianTime int64       `json:"mediantime"`
		Nonce      uint32      `json:"nonce"`
		Bits       uint32      `json:"bits"`
		Difficulty json.Number `json:"difficulty"`
	}
	statusJSON struct {
		Confirmed bool   `json:"confirmed"`
		Height    *int   `json:"block_height,omitempty"`
		Hash      string `json:"block_hash,omitempty"`
		Time      int64  `json:"block_time,omitempty"`
	}
	outputJSON struct {
		Script  string `json:"scriptpubkey"`
		Asm     string `json:"scriptpubkey_asm"`
		Type    string `json:"scriptpubkey_type"`
		Address string `json:"scriptpubkey_address,omitempty"`
		Value   int64  `json:"value"`
	}
	inputJSON struct {
		TxID      string      `json:"txid"`
		Vout      uint32      `json:"vout"`
		Prevout   *outputJSON `json:"prevout"`
		ScriptSig string      `json:"scriptsig"`
		Asm       string      `json:"scriptsig_asm"`
		Witness   []string    `json:"witness,omitempty"`
		Coinbase  bool        `json:"is_coinbase"`
		Sequence  uint32      `json:"sequence"`
		Redeem    *string     `json:"inner_redeemscript_asm,omitempty"`
		Inner     *string     `json:"inner_witnessscript_asm,omitempty"`
	}
	txJSON struct {
		TxID     string       `json:"txid"`
		Version  uint32       `json:"version"`
		LockTime uint32       `json:"locktime"`
		Vin      []inputJSON  `json:"vin"`
		Vout     []outputJSON `json:"vout"`
		Size     int          `json:"size"`
		Weight   int          `json:"weight"`
		Fee      int64        `json:"fee"`
		Status   statusJSON   `json:"status"`
	}
	spendJSON struct {
		Spent  bool        `json:"spent"`
		TxID   string      `json:"txid,omitempty"`
		Vin    *int        `json:"vin,omitempty"`
		Status *statusJSON `json:"status,omitempty"`
	}
	utxoJSON struct {
		TxID   string     `json:"txid"`
		Vout   int        `json:"vout"`
		Status statusJSON `json:"status"`
		Value  int64      `json:"value"`
	}
	statsJSON struct {
		Funded    int   `json:"funded_txo_count"`
		FundedSum int64 `json:"funded_txo_sum"`
		Spent     int   `json:"spent_txo_count"`
		SpentSum  int64 `json:"spent_txo_sum"`
		Txs       int   `json:"tx_count"`
	}
	summaryJSON struct {
		TxID     string `json:"txid"`
		Height   int    `json:"height"`
		Value    int64  `json:"value"`
		Time     int64  `json:"time"`
		Position int    `json:"tx_position"`
	}
)

// text is a value as JSON.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the values of tests have a form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// naive computes answers by a scan of all blocks.
type naive struct {
	blocks  []*wire.MsgBlock
	txs     map[chainhash.Hash]*wire.MsgTx
	at      map[chainhash.Hash]int // height
	order   []*wire.MsgTx          // in chain order
	spender map[wire.OutPoint]spentBy
}

type spentBy struct {
	tx    chainhash.Hash
	input int
}

type txOut struct {
	tx    *wire.MsgTx
	index int
}

func unspendable(script []byte) bool {
	return len(script) > 10_000 || len(script) > 0 && script[0] == 0x6a
}

func newNaive(c *bitcointest.Chain) *naive { return newNaiveOf(c.Blocks()) }

func newNaiveOf(blocks []*wire.MsgBlock) *naive {
	n := &naive{
		blocks: blocks, txs: map[chainhash.Hash]*wire.MsgTx{}, at: map[chainhash.Hash]int{},
		spender: map[wire.OutPoint]spentBy{},
	}
	for h, b := range n.blocks {
		for _, tx := range b.Transactions {
			id := tx.TxHash()
			n.txs[id], n.at[id] = tx, h
			n.order = append(n.order, tx)
			for i, in := range tx.TxIn {
				n.spender[in.PreviousOutPoint] = spentBy{id, i}
			}
		}
	}
	return n
}

func (n *naive) tip() int { return len(n.blocks) - 1 }

// lifetime returns the cache lifetime of answers about a height.
func (n *naive) lifetime(height int) string {
	if n.tip()-height >= 10 {
		return "157784630"
	}
	return "10"
}

// unspentOutputs returns the outputs that a transaction can spend.
func (n *naive) unspentOutputs() (free []txOut) {
	for _, tx := range n.order {
		if n.at[tx.TxHash()] == 0 {
			continue
		}
		for i, o := range tx.TxOut {
			if _, spent := n.spender[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}]; !spent && !unspendable(o.PkScript) {
				free = append(free, txOut{tx, i})
			}
		}
	}
	return free
}

// prevout is the output that an input spends, nil for a coinbase.
func (n *naive) prevout(in *wire.TxIn) *wire.TxOut {
	tx := n.txs[in.PreviousOutPoint.Hash]
	if tx == nil {
		return nil
	}
	return tx.TxOut[in.PreviousOutPoint.Index]
}

func (n *naive) status(id chainhash.Hash) statusJSON {
	h := n.at[id]
	return statusJSON{true, &h, n.blocks[h].BlockHash().String(), n.blocks[h].Header.Timestamp.Unix()}
}

func raw(tx *wire.MsgTx) []byte {
	var b bytes.Buffer
	if err := tx.Serialize(&b); err != nil {
		panic(err) // writing to memory does not fail
	}
	return b.Bytes()
}

func asm(s []byte) string { return string(script.AppendAsm(nil, s)) }

// typeOf is the type of a script by btcd's classes.
func typeOf(s []byte) string {
	if len(s) == 0 {
		return "empty"
	}
	if s[0] == 0x6a {
		return "op_return"
	}
	switch txscript.GetScriptClass(s) {
	case txscript.PubKeyTy:
		return "p2pk"
	case txscript.PubKeyHashTy:
		return "p2pkh"
	case txscript.ScriptHashTy:
		return "p2sh"
	case txscript.WitnessV0PubKeyHashTy:
		return "v0_p2wpkh"
	case txscript.WitnessV0ScriptHashTy:
		return "v0_p2wsh"
	case txscript.WitnessV1TaprootTy:
		return "v1_p2tr"
	}
	return script.EsploraType(s) // package script tests the other types
}

func (n *naive) output(o *wire.TxOut, addressOf func([]byte) string) outputJSON {
	j := outputJSON{Script: hex.EncodeToString(o.PkScript), Asm: asm(o.PkScript), Type: typeOf(o.PkScript), Value: o.Value}
	switch j.Type {
	case "p2pkh", "p2sh", "v0_p2wpkh", "v0_p2wsh", "v1_p2tr":
		_, all, _, err := txscript.ExtractPkScriptAddrs(o.PkScript, &chaincfg.RegressionNetParams)
		if err != nil || len(all) != 1 {
			panic(fmt.Sprintf("addresses of %x: %v, %v", o.PkScript, all, err))
		}
		j.Address = all[0].EncodeAddress()
	case "unknown":
		j.Address = addressOf(o.PkScript) // later witness versions, which btcd does not write
	}
	return j
}

func (n *naive) tx(tx *wire.MsgTx, addressOf func([]byte) string) txJSON {
	j := txJSON{
		TxID: tx.TxHash().String(), Version: uint32(tx.Version), LockTime: tx.LockTime, Size: tx.SerializeSize(),
		Weight: 3*tx.SerializeSizeStripped() + tx.SerializeSize(), Status: n.status(tx.TxHash()),
	}
	for _, in := range tx.TxIn {
		o := n.prevout(in)
		v := inputJSON{
			TxID: in.PreviousOutPoint.Hash.String(), Vout: in.PreviousOutPoint.Index, Coinbase: o == nil,
			ScriptSig: hex.EncodeToString(in.SignatureScript), Asm: asm(in.SignatureScript), Sequence: in.Sequence,
		}
		for _, item := range in.Witness {
			v.Witness = append(v.Witness, hex.EncodeToString(item))
		}
		if o != nil {
			spent := n.output(o, addressOf)
			v.Prevout = &spent
			j.Fee += o.Value
			redeem, inner := script.Inner(o.PkScript, in.SignatureScript, in.Witness)
			for _, of := range []struct {
				script []byte
				to     **string
			}{{redeem, &v.Redeem}, {inner, &v.Inner}} {
				if of.script != nil {
					text := asm(of.script)
					*of.to = &text
				}
			}
		}
		j.Vin = append(j.Vin, v)
	}
	for _, o := range tx.TxOut {
		j.Vout = append(j.Vout, n.output(o, addressOf))
		j.Fee -= o.Value
	}
	if j.Vin[0].Coinbase {
		j.Fee = 0
	}
	return j
}

func (n *naive) list(txs []*wire.MsgTx, addressOf func([]byte) string) []txJSON {
	list := []txJSON{}
	for _, tx := range txs {
		list = append(list, n.tx(tx, addressOf))
	}
	return list
}

func (n *naive) block(h int) blockJSON {
	b := n.blocks[h]
	var times []int64
	for _, before := range n.blocks[max(0, h-10) : h+1] {
		times = append(times, before.Header.Timestamp.Unix())
	}
	slices.Sort(times)
	stripped := wire.MsgBlock{Header: b.Header, Transactions: b.Transactions}
	j := blockJSON{
		ID: b.BlockHash().String(), Height: h, Version: uint32(b.Header.Version), Timestamp: b.Header.Timestamp.Unix(),
		TxCount: len(b.Transactions), Size: b.SerializeSize(), Weight: 3*stripped.SerializeSizeStripped() + b.SerializeSize(),
		MerkleRoot: b.Header.MerkleRoot.String(), MedianTime: times[len(times)/2], Nonce: b.Header.Nonce, Bits: b.Header.Bits,
		Difficulty: "4.6565423739069247e-10", // of every block of regtest
	}
	if h > 0 {
		previous := b.Header.PrevBlock.String()
		j.Previous = &previous
	}
	return j
}

func (n *naive) spend(tx chainhash.Hash, index int) spendJSON {
	by, ok := n.spender[wire.OutPoint{Hash: tx, Index: uint32(index)}]
	if !ok {
		return spendJSON{}
	}
	s := n.status(by.tx)
	return spendJSON{true, by.tx.String(), &by.input, &s}
}

// history is that of scripts, newest first, with their totals and unspent outputs.
func (n *naive) history(pkScripts ...[]byte) (txs []*wire.MsgTx, s statsJSON, changes []summaryJSON, utxos []utxoJSON) {
	changes, utxos = []summaryJSON{}, []utxoJSON{}
	wanted := func(o *wire.TxOut) bool {
		return slices.ContainsFunc(pkScripts, func(s []byte) bool { return bytes.Equal(o.PkScript, s) })
	}
	for _, tx := range n.order {
		id := tx.TxHash()
		found, net := false, int64(0)
		for i, o := range tx.TxOut {
			if !wanted(o) || unspendable(o.PkScript) || n.at[id] == 0 {
				continue
			}
			found, net = true, net+o.Value
			s.Funded++
			s.FundedSum += o.Value
			if _, spent := n.spender[wire.OutPoint{Hash: id, Index: uint32(i)}]; !spent {
				utxos = append(utxos, utxoJSON{id.String(), i, n.status(id), o.Value})
			}
		}
		for _, in := range tx.TxIn {
			if o := n.prevout(in); o != nil && wanted(o) {
				found, net = true, net-o.Value
				s.Spent++
				s.SpentSum += o.Value
			}
		}
		if found {
			s.Txs++
			txs = append(txs, tx)
			at := n.status(id)
			position := slices.IndexFunc(n.blocks[*at.Height].Transactions, func(tx *wire.MsgTx) bool { return tx.TxHash() == id })
			changes = append(changes, summaryJSON{id.String(), *at.Height, net, at.Time, position})
		}
	}
	slices.Reverse(txs)
	slices.Reverse(changes)
	return txs, s, changes, utxos
}

// keyOf is the script hash in the form of the API.
func keyOf(pkScript []byte) string {
	sum := sha256.Sum256(pkScript)
	return hex.EncodeToString(sum[:])
}
