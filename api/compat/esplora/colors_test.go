package esplora_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	le "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/esplora"
	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/tapyrus"
	"birthmark/core"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// newColoredWorld is a database of the network of Tapyrus Core's tests.
func newColoredWorld(t testing.TB) *world {
	t.Helper()
	chain, err := bitcoin.Open(tapyrus.Spec, "dev")
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.NewFaulty(memory.New())
	db, err := core.Open(t.Context(), store, core.Options{
		Chain: chain, Indexes: []string{"address", "script_hash"}, Raw: true, CacheBytes: 4 << 20,
		Keep: map[string]model.IndexOptions{
			"script_hash": {Balance: true, Unspent: true, History: true}, "address": {Prefix: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{store: store, db: db}
	w.served = &served.Chain{
		Name: "tapyrus-dev", Model: chain, View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
	}
	return w
}

// syncTo brings the database to a chain of blocks in a file.
func (w *world) syncTo(t testing.TB, file []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "blk00000.dat")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	w.syncFrom(t, name, nil)
}

// colorModel computes the answers about colors by a scan of all blocks and unconfirmed transactions, with its own parser.
type colorModel struct {
	txs    []*coloredTx // in the order of the chain, then unconfirmed ones
	byID   map[model.Hash]*coloredTx
	spends map[wire.OutPoint]*coloredTx
	tip    int
}

type coloredTx struct {
	id     model.Hash
	msg    *wire.MsgTx
	size   int
	height int // -1: unconfirmed
	place  int // in the block
	block  string
	time   uint32
}

// displayed returns a hash in display order.
func displayed(h [32]byte) string { return string(script.AppendHash(nil, h)) }

func (tx *coloredTx) text() string { return displayed(tx.id) }

// splitColor returns the color of an output in hex, empty for none, and the script without it.
func splitColor(pkScript []byte) (color string, lock []byte) {
	n := len(pkScript)
	if (n == 60 || n == 58) && pkScript[0] == 33 && pkScript[34] == 0xbc && pkScript[1] >= 0xc1 && pkScript[1] <= 0xc3 {
		return hex.EncodeToString(pkScript[1:34]), pkScript[35:]
	}
	return "", pkScript
}

// heldColor is splitColor of an output. One with an amount of 0 counts as an output without a color.
func heldColor(o *wire.TxOut) (color string, lock []byte) {
	if color, lock = splitColor(o.PkScript); o.Value == 0 {
		color = ""
	}
	return color, lock
}

// malfixID is the id of a transaction: the hash of its serialization without the scripts of inputs.
func malfixID(tx *wire.MsgTx) model.Hash {
	b := le.LittleEndian.AppendUint32(nil, uint32(tx.Version))
	b = append(b, byte(len(tx.TxIn)))
	for _, in := range tx.TxIn {
		b = append(b, in.PreviousOutPoint.Hash[:]...)
		b = le.LittleEndian.AppendUint32(b, in.PreviousOutPoint.Index)
		b = le.LittleEndian.AppendUint32(b, in.Sequence)
	}
	b = append(b, byte(len(tx.TxOut)))
	for _, o := range tx.TxOut {
		b = le.LittleEndian.AppendUint64(b, uint64(o.Value))
		b = append(append(b, byte(len(o.PkScript))), o.PkScript...)
	}
	b = le.LittleEndian.AppendUint32(b, tx.LockTime)
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}

// parseBlock returns the header and the transactions of a block.
func parseBlock(t testing.TB, raw []byte) (header []byte, txs []*wire.MsgTx) {
	t.Helper()
	at := 105
	switch raw[104] {
	case 1:
		at += 34
	case 2:
		at += 4
	}
	at += 1 + int(raw[at])
	r := bytes.NewReader(raw[at:])
	n, err := wire.ReadVarInt(r, 0)
	for i := uint64(0); i < n && err == nil; i++ {
		tx := new(wire.MsgTx)
		err = tx.DeserializeNoWitness(r)
		txs = append(txs, tx)
	}
	if err != nil || r.Len() > 0 {
		t.Fatalf("a block of %d bytes: %v", len(raw), err)
	}
	return raw[:at], txs
}

func newColorModel(t testing.TB, blocks [][]byte, unconfirmed ...*wire.MsgTx) *colorModel {
	t.Helper()
	n := &colorModel{byID: map[model.Hash]*coloredTx{}, spends: map[wire.OutPoint]*coloredTx{}, tip: len(blocks) - 1}
	add := func(msg *wire.MsgTx, height, place int, hash string, at uint32) {
		tx := &coloredTx{malfixID(msg), msg, msg.SerializeSize(), height, place, hash, at}
		n.txs, n.byID[tx.id] = append(n.txs, tx), tx
		for _, in := range msg.TxIn {
			n.spends[in.PreviousOutPoint] = tx
		}
	}
	for h, raw := range blocks {
		header, txs := parseBlock(t, raw)
		hash := displayed(tapyrus.Spec.Format.HashOf(raw))
		for i, tx := range txs {
			add(tx, h, i, hash, le.LittleEndian.Uint32(header[100:]))
		}
	}
	for _, tx := range unconfirmed {
		add(tx, -1, 0, "", 0)
	}
	return n
}

// spent returns the output that an input spends; nil for a coinbase.
func (n *colorModel) spent(in *wire.TxIn) *wire.TxOut {
	if tx := n.byID[model.Hash(in.PreviousOutPoint.Hash)]; tx != nil {
		return tx.msg.TxOut[in.PreviousOutPoint.Index]
	}
	return nil
}

// colorSums are the totals of a color, in the order of their names.
type colorSums struct {
	BurnedSum      uint64 `json:"burned_sum"`
	Burned         int    `json:"burned_tx_count"`
	Color          string `json:"color_id"`
	IssuedSum      uint64 `json:"issued_sum"`
	Issued         int    `json:"issued_tx_count"`
	TransferredSum uint64 `json:"transferred_sum"`
	Transferred    int    `json:"transferred_tx_count"`
	Txs            int    `json:"tx_count"`
}

// colors returns the totals of every color in the chain or the mempool, and the transactions with it.
func (n *colorModel) colors(confirmed bool) (sums map[string]*colorSums, txs map[string][]*coloredTx) {
	sums, txs = map[string]*colorSums{}, map[string][]*coloredTx{}
	for _, tx := range n.txs {
		if (tx.height >= 0) != confirmed {
			continue
		}
		in, out := map[string]uint64{}, map[string]uint64{}
		for _, i := range tx.msg.TxIn {
			if o := n.spent(i); o != nil {
				color, _ := heldColor(o)
				in[color] += uint64(o.Value)
			}
		}
		for _, o := range tx.msg.TxOut {
			color, _ := heldColor(o)
			out[color] += uint64(o.Value)
		}
		both := maps.Clone(in)
		maps.Copy(both, out)
		for color := range both {
			if color == "" {
				continue
			}
			s := sums[color]
			if s == nil {
				s = &colorSums{Color: color}
				sums[color] = s
			}
			s.Txs++
			txs[color] = append(txs[color], tx)
			if out[color] > in[color] {
				s.Issued++
				s.IssuedSum += out[color] - in[color]
			}
			if in[color] > out[color] {
				s.Burned++
				s.BurnedSum += in[color] - out[color]
			}
			if moved := min(in[color], out[color]); moved > 0 || in[color] == out[color] {
				s.Transferred++
				s.TransferredSum += moved
			}
		}
	}
	return sums, txs
}

// The answers about outputs with colors.
type (
	coloredOutput struct {
		Script  string `json:"scriptpubkey"`
		Asm     string `json:"scriptpubkey_asm"`
		Type    string `json:"scriptpubkey_type"`
		Address string `json:"scriptpubkey_address,omitempty"`
		Value   int64  `json:"value"`
		Color   string `json:"color_id,omitempty"`
	}
	coloredInput struct {
		TxID      string         `json:"txid"`
		Vout      uint32         `json:"vout"`
		Prevout   *coloredOutput `json:"prevout"`
		ScriptSig string         `json:"scriptsig"`
		Asm       string         `json:"scriptsig_asm"`
		Coinbase  bool           `json:"is_coinbase"`
		Sequence  uint32         `json:"sequence"`
		Redeem    *string        `json:"inner_redeemscript_asm,omitempty"`
	}
	coloredJSON struct {
		TxID     string          `json:"txid"`
		Version  int32           `json:"version"`
		LockTime uint32          `json:"locktime"`
		Vin      []coloredInput  `json:"vin"`
		Vout     []coloredOutput `json:"vout"`
		Size     int             `json:"size"`
		Weight   int             `json:"weight"`
		Fee      int64           `json:"fee"`
		Status   statusJSON      `json:"status"`
	}
	coloredUTXO struct {
		TxID   string     `json:"txid"`
		Vout   int        `json:"vout"`
		Status statusJSON `json:"status"`
		Value  int64      `json:"value"`
		Color  string     `json:"color_id"`
	}
)

// The prefixes of addresses on the network.
var coloredPrefix = map[string]byte{"p2pkh": 0x6f, "p2sh": 0xc4, "cp2pkh": 0x70, "cp2sh": 0xc5}

// coloredAddress returns the type and the address of a script.
func coloredAddress(pkScript []byte) (kind, address string) {
	color, lock := splitColor(pkScript)
	prefix, hash := "", []byte(nil)
	if color != "" {
		prefix = "c"
	}
	switch {
	case len(lock) == 25 && lock[0] == 0x76:
		kind, hash = prefix+"p2pkh", lock[3:23]
	case len(lock) == 23 && lock[0] == 0xa9:
		kind, hash = prefix+"p2sh", lock[2:22]
	case len(lock) == 35 && lock[0] == 33 && lock[34] == 0xac:
		return "p2pk", ""
	case len(lock) > 0 && lock[0] == 0x6a:
		return "op_return", ""
	default:
		return "unknown", ""
	}
	id, _ := hex.DecodeString(color)
	return kind, base58.CheckEncode(slices.Concat(id, hash), coloredPrefix[kind])
}

func coloredOutputOf(o *wire.TxOut) coloredOutput {
	kind, address := coloredAddress(o.PkScript)
	color, _ := splitColor(o.PkScript)
	return coloredOutput{
		hex.EncodeToString(o.PkScript), string(script.AppendTapyrusAsm(nil, o.PkScript)), kind, address, o.Value, color,
	}
}

func (tx *coloredTx) status() statusJSON {
	if tx.height < 0 {
		return statusJSON{}
	}
	return statusJSON{true, &tx.height, tx.block, int64(tx.time)}
}

func (n *colorModel) tx(tx *coloredTx) coloredJSON {
	j := coloredJSON{
		TxID: tx.text(), Version: tx.msg.Version, LockTime: tx.msg.LockTime, Size: tx.size, Weight: 4 * tx.size, Status: tx.status(),
	}
	for _, in := range tx.msg.TxIn {
		v := coloredInput{
			TxID: in.PreviousOutPoint.Hash.String(), Vout: in.PreviousOutPoint.Index,
			ScriptSig: hex.EncodeToString(in.SignatureScript), Asm: string(script.AppendTapyrusAsm(nil, in.SignatureScript)),
			Coinbase: in.PreviousOutPoint.Hash == [32]byte{}, Sequence: in.Sequence,
		}
		if o := n.spent(in); o != nil {
			out := coloredOutputOf(o)
			v.Prevout = &out
			if out.Color == "" {
				j.Fee += o.Value
			}
			if out.Type == "p2sh" { // the scripts of inputs are one push
				redeem := string(script.AppendTapyrusAsm(nil, in.SignatureScript[1:]))
				v.Redeem = &redeem
			}
		}
		j.Vin = append(j.Vin, v)
	}
	for _, o := range tx.msg.TxOut {
		out := coloredOutputOf(o)
		j.Vout = append(j.Vout, out)
		if out.Color == "" {
			j.Fee -= o.Value
		}
	}
	if j.Vin[0].Coinbase {
		j.Fee = 0
	}
	return j
}

func (n *colorModel) list(txs []*coloredTx) []coloredJSON {
	all := make([]coloredJSON, len(txs))
	for i, tx := range txs {
		all[i] = n.tx(tx)
	}
	return all
}

// newestFirst returns the confirmed transactions in reverse.
func newestFirst(txs []*coloredTx) []*coloredTx {
	txs = slices.Clone(txs)
	slices.Reverse(txs)
	return txs
}

// compareColors compares the answers about all colors.
func compareColors(t *testing.T, w *world, n *colorModel) {
	t.Helper()
	sums, txs := n.colors(true)
	pendingSums, pendingTxs := n.colors(false)
	colors := slices.Collect(maps.Keys(sums))
	height := func(color string) int { return txs[color][len(txs[color])-1].height }
	slices.SortFunc(colors, func(a, b string) int { return cmp.Or(height(b)-height(a), strings.Compare(b, a)) })
	unconfirmed := func(color string) *colorSums {
		if s := pendingSums[color]; s != nil {
			return s
		}
		return &colorSums{Color: color}
	}
	type entry struct {
		Chain   *colorSums `json:"chain_stats"`
		Color   string     `json:"color_id"`
		Height  int        `json:"height"`
		Mempool *colorSums `json:"mempool_stats"`
	}
	last := ""
	for rest := colors; ; {
		page := make([]entry, min(25, len(rest)))
		for i := range page {
			page[i] = entry{sums[rest[i]], rest[i], height(rest[i]), unconfirmed(rest[i])}
		}
		w.expect(t, "/colors"+last, text(page), jsonType, "10")
		if len(page) == 0 {
			break
		}
		last, rest = "/"+page[len(page)-1].Color, rest[len(page):]
	}
	first := w.get(t, "/colors")
	for _, other := range []string{"x", "c1" + strings.Repeat("00", 32), "00" + strings.Repeat("00", 32), "c4" + strings.Repeat("11", 32)} {
		w.expect(t, "/colors/"+other, first, jsonType, "10")
	}
	for color := range pendingSums {
		if sums[color] == nil {
			sums[color] = &colorSums{Color: color}
		}
	}
	for color, s := range sums {
		at := "/color/" + color
		w.expect(t, at, fmt.Sprintf(`{"chain_stats":%s,"mempool_stats":%s}`, text(s), text(unconfirmed(color))), jsonType, "10")
		all, pool := newestFirst(txs[color]), text(n.list(pendingTxs[color]))
		w.expect(t, at+"/txs", text(n.list(slices.Concat(all[:min(25, len(all))], pendingTxs[color]))), jsonType, "10")
		w.expect(t, at+"/txs/mempool", pool, jsonType, "10")
		w.expect(t, at+"/txs/chain/nonsense", text(n.list(all[:min(25, len(all))])), jsonType, "10")
		for last, rest := "", all; ; {
			page := rest[:min(25, len(rest))]
			w.expect(t, at+"/txs/chain"+last, text(n.list(page)), jsonType, "10")
			if len(page) == 0 {
				break
			}
			last, rest = "/"+page[len(page)-1].text(), rest[len(page):]
		}
		for _, tx := range n.txs {
			if !slices.Contains(txs[color], tx) {
				w.expect(t, at+"/txs/chain/"+tx.text(), "[]", jsonType, "10")
				break
			}
		}
	}
}

// compareColoredScripts compares the answers about scripts, without their colors and with each of them.
func compareColoredScripts(t *testing.T, w *world, n *colorModel, most int) {
	t.Helper()
	type holder struct{ lock, color string } // color "": all
	seen, pooled := map[holder]bool{}, map[holder]bool{}
	var holders []holder
	for _, tx := range n.txs {
		for _, o := range tx.msg.TxOut {
			color, lock := heldColor(o)
			for _, h := range []holder{{string(lock), ""}, {string(lock), color}} {
				if _, address := coloredAddress(lock); tx.height != 0 && !seen[h] && address != "" {
					seen[h] = true
					holders = append(holders, h)
					pooled[h] = color != "" && tx.height < 0
				}
			}
		}
	}
	rand.New(rand.NewPCG(1, uint64(len(holders)))).Shuffle(len(holders), func(i, j int) { holders[i], holders[j] = holders[j], holders[i] })
	slices.SortStableFunc(holders, func(a, b holder) int { // those of unconfirmed colored outputs first
		switch {
		case pooled[a] == pooled[b]:
			return 0
		case pooled[a]:
			return -1
		}
		return 1
	})
	for _, h := range holders[:min(most, len(holders))] {
		n.compareHolder(t, w, []byte(h.lock), h.color)
	}
}

type coloredStatsJSON struct {
	Funded    int    `json:"funded_txo_count"`
	FundedSum uint64 `json:"funded_txo_sum"`
	Spent     int    `json:"spent_txo_count"`
	SpentSum  uint64 `json:"spent_txo_sum"`
	Txs       int    `json:"tx_count"`
}

func (n *colorModel) compareHolder(t *testing.T, w *world, lock []byte, only string) {
	t.Helper()
	stats := map[bool]map[string]*coloredStatsJSON{true: {}, false: {}} // by confirmed and color
	var txs, pool []*coloredTx
	utxos, changes := []coloredUTXO{}, []summaryJSON{}
	for _, tx := range n.txs {
		colors, net := map[string]bool{}, int64(0) // of the coin, or of the only color
		of := func(o *wire.TxOut) (*coloredStatsJSON, string) {
			if o == nil {
				return nil, ""
			}
			color, own := heldColor(o)
			if !bytes.Equal(own, lock) || only != "" && color != only {
				return nil, ""
			}
			if color == "" {
				color = strings.Repeat("00", 33)
			}
			s := stats[tx.height >= 0][color]
			if s == nil {
				s = new(coloredStatsJSON)
				stats[tx.height >= 0][color] = s
			}
			if !colors[color] {
				colors[color] = true
				s.Txs++
			}
			return s, color
		}
		for i, o := range tx.msg.TxOut {
			if s, color := of(o); s != nil {
				if only != "" || color == strings.Repeat("00", 33) {
					net += o.Value
				}
				s.Funded++
				s.FundedSum += uint64(o.Value)
				if n.spends[wire.OutPoint{Hash: [32]byte(tx.id), Index: uint32(i)}] == nil {
					utxos = append(utxos, coloredUTXO{tx.text(), i, tx.status(), o.Value, color})
				}
			}
		}
		for _, in := range tx.msg.TxIn {
			o := n.spent(in)
			if s, color := of(o); s != nil {
				if only != "" || color == strings.Repeat("00", 33) {
					net -= o.Value
				}
				s.Spent++
				s.SpentSum += uint64(o.Value)
			}
		}
		switch {
		case len(colors) == 0:
		case tx.height < 0:
			pool = append(pool, tx)
		default:
			txs = append(txs, tx)
			changes = append(changes, summaryJSON{tx.text(), tx.height, net, int64(tx.time), tx.place})
		}
	}
	slices.Reverse(changes)
	address := ""
	if only == "" {
		_, address = coloredAddress(lock)
	} else {
		_, address = coloredAddress(slices.Concat([]byte{33}, unhexed(t, only), []byte{0xbc}, lock))
	}
	ways := map[string]string{
		"/address/" + address: fmt.Sprintf(`{"address":"%s","chain_stats":%s,"mempool_stats":%s}`, address, text(stats[true]), text(stats[false])),
	}
	if only == "" {
		ways["/scripthash/"+keyOf(lock)] = fmt.Sprintf(`{"chain_stats":%s,"mempool_stats":%s,"scripthash":"%s"}`, text(stats[true]), text(stats[false]), keyOf(lock))
	}
	all := newestFirst(txs)
	for at, totals := range ways {
		w.expect(t, at, totals, jsonType, "10")
		w.expect(t, at, totals, jsonType, "10") // from the kept sums
		w.expect(t, at+"/txs", text(n.list(slices.Concat(pool, all[:min(25, len(all))]))), jsonType, "10")
		w.expect(t, at+"/txs/mempool", text(n.list(pool)), jsonType, "10")
		w.expect(t, at+"/utxo", text(utxos), jsonType, "10")
		w.expect(t, at+"/txs/summary", text(changes), jsonType, "10")
		for last, rest := "", all; ; {
			page := rest[:min(25, len(rest))]
			w.expect(t, at+"/txs/chain"+last, text(n.list(page)), jsonType, "10")
			if len(page) == 0 {
				break
			}
			last, rest = "/"+page[len(page)-1].text(), rest[len(page):]
		}
	}
}

func unhexed(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// compareTapyrusBlocks compares the blocks, and the headers.
func compareTapyrusBlocks(t *testing.T, w *world, blocks [][]byte) {
	t.Helper()
	for h, raw := range blocks {
		header, txs := parseBlock(t, raw)
		hash := displayed(tapyrus.Spec.Format.HashOf(raw))
		var parent, signature, field any
		if h > 0 {
			parent = displayed([32]byte(header[4:36]))
		}
		body := header[105:]
		if size := map[byte]int{1: 34, 2: 4}[header[104]]; size > 0 {
			field, body = hex.EncodeToString(header[104:105+size]), body[size:]
		}
		if body[0] > 0 {
			signature = hex.EncodeToString(body[1:])
		}
		want := fmt.Sprintf(`{"id":"%s","height":%d,"features":1,"time":%d,"tx_count":%d,"size":%d,"weight":%d,"merkle_root":"%s",`+
			`"im_merkle_root":"%s","previousblockhash":%s,"signature":%s,"xfield_type":%d,"xfield":%s}`,
			hash, h, le.LittleEndian.Uint32(header[100:]), len(txs), len(raw), 4*len(raw), displayed([32]byte(header[36:68])),
			displayed([32]byte(header[68:100])), text(parent), text(signature), header[104], text(field))
		w.expect(t, "/block/"+hash, want, jsonType, "157784630")
		if got := w.get(t, fmt.Sprintf("/block-height/%d", h)); got != hash {
			t.Fatalf("block %d is %s, expected %s", h, got, hash)
		}
		if got := w.get(t, "/block/"+hash+"/header"); got != hex.EncodeToString(header) {
			t.Fatalf("header %s, expected %x", got, header)
		}
		if got := w.get(t, "/block/"+hash+"/raw"); got != string(raw) {
			t.Fatalf("block %d differs", h)
		}
		if start := w.get(t, fmt.Sprintf("/blocks/%d", h)); !strings.HasPrefix(start, "["+want) {
			t.Fatalf("/blocks/%d: %s", h, start)
		}
	}
}

// Answers about colors, of a chain, of another branch of it, and of more blocks.
func TestColors(t *testing.T) {
	coin, _ := coingen.Find("tapyrus")
	o := coingen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 8}
	w := newColoredWorld(t)
	w.serve(t)
	length := testrun.Amount(60, 30)
	chain := coingen.New(coin, o)
	for range length {
		chain.Next()
	}
	fork := coingen.Replay(coin, o, length-5)
	for range 7 {
		fork.Next()
	}
	for i, c := range []*coingen.Chain{chain, fork, fork} {
		if i == 2 {
			for range 30 {
				c.Next()
			}
		}
		w.syncTo(t, c.File())
		n := newColorModel(t, c.Blocks())
		compareColors(t, w, n)
		compareColoredScripts(t, w, n, testrun.Amount(50, 15))
		compareTapyrusBlocks(t, w, c.Blocks()[:20])
		for _, tx := range n.txs[:50] {
			w.expect(t, "/tx/"+tx.text(), text(n.tx(tx)), jsonType, map[bool]string{true: "157784630", false: "10"}[n.tip-tx.height >= 10])
		}
	}
}

// Unconfirmed transactions with colors.
func TestUnconfirmedColors(t *testing.T) {
	coin, _ := coingen.Find("tapyrus")
	made := coingen.New(coin, coingen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 12})
	for range 40 {
		made.Next()
	}
	all := made.Blocks()
	blocks := all[:len(all)-1]
	_, txs := parseBlock(t, all[len(all)-1])
	pool := map[string][]byte{}
	for _, tx := range txs[1:] {
		pool[displayed(malfixID(tx))] = raw(tx)
	}
	w := newColoredWorld(t)
	uri := cointest.NodeWithPool(t, coin.Network, coin.Spec.Format, func() [][]byte { return blocks }, func() map[string][]byte { return pool })
	src, err := w.db.Chain().Open(t.Context(), model.SourceOptions{URI: uri, Indexes: w.db.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	target := model.HeightPk(len(blocks) - 1)
	if err := core.Sync(t.Context(), w.db, src, core.SyncOptions{To: &target}); err != nil {
		t.Fatal(err)
	}
	w.served.Mempool = answertest.Mempool(t, w.db, uri, len(pool))
	w.serve(t)
	// The order of arrival is that of the node's list, which is sorted, with parents first.
	var ids []string
	if err := json.Unmarshal([]byte(w.get(t, "/mempool/txids")), &ids); err != nil {
		t.Fatal(err)
	}
	order := func(tx *wire.MsgTx) int { return slices.Index(ids, displayed(malfixID(tx))) }
	arrived := slices.Clone(txs[1:])
	slices.SortFunc(arrived, func(a, b *wire.MsgTx) int { return order(a) - order(b) })
	n := newColorModel(t, blocks, arrived...)
	compareColors(t, w, n)
	compareColoredScripts(t, w, n, testrun.Amount(60, 30))
	n.compareRecent(t, w, arrived)
}

// compareRecent compares the lists of unconfirmed transactions, the latest first.
func (n *colorModel) compareRecent(t *testing.T, w *world, arrived []*wire.MsgTx) {
	t.Helper()
	type recent struct {
		TxID  string `json:"txid"`
		Fee   int64  `json:"fee"`
		VSize int    `json:"vsize"`
		Time  int64  `json:"time"`
		Value int64  `json:"value"`
	}
	var want []recent
	for _, tx := range slices.Backward(arrived) {
		j := n.tx(n.byID[malfixID(tx)])
		r := recent{TxID: j.TxID, Fee: j.Fee, VSize: j.Size}
		for _, in := range j.Vin {
			r.Value += in.Prevout.Value
		}
		want = append(want, r)
	}
	for list, part := range map[string][]recent{
		"/mempool/recent": want[:min(10, len(want))], "/mempool/txs": want[:min(25, len(want))], "/mempool/txs/3": want[min(3, len(want)):min(28, len(want))],
		"/mempool/txs/100000": {},
	} {
		var got []recent
		if err := json.Unmarshal([]byte(w.get(t, list)), &got); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Time == 0 {
				t.Errorf("%s: no time: %+v", list, got[i])
			}
			got[i].Time = 0
		}
		if !slices.Equal(got, part) {
			t.Errorf("%s: %+v, expected %+v", list, got, part)
		}
	}
}

// minedBlock makes a block of a coinbase and transactions.
func minedBlock(parent []byte, height int, txs ...*wire.MsgTx) []byte {
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(height)}, []byte{byte(height)}, nil))
	coinbase.AddTxOut(wire.NewTxOut(50, p2pkh))
	txs = append([]*wire.MsgTx{coinbase}, txs...)
	var body []byte
	ids, hashes := make([]model.Hash, len(txs)), make([]model.Hash, len(txs))
	for i, tx := range txs {
		body = append(body, raw(tx)...)
		ids[i], hashes[i] = malfixID(tx), model.Hash(tx.TxHash())
	}
	byID, _ := block.MerkleRoot(ids)
	byBytes, _ := block.MerkleRoot(hashes)
	hash := tapyrus.Spec.Format.HashOf(parent)
	header := slices.Concat([]byte{1, 0, 0, 0}, hash[:], byBytes[:], byID[:], le.LittleEndian.AppendUint32(nil, 1600000000+uint32(height)))
	return slices.Concat(header, []byte{0, 64}, make([]byte, 64), []byte{byte(len(txs))}, body)
}

// Outputs that look like colored ones, several outputs of a color in a transaction, an amount of 0, sums above 64 bits,
// and a color that is issued, burned as a whole, and issued again.
func TestOddColors(t *testing.T) {
	coin, _ := coingen.Find("tapyrus")
	id := func(kind byte) []byte { return append([]byte{kind}, bytes.Repeat([]byte{kind}, 32)...) }
	colored := func(kind byte, lock []byte) []byte { return slices.Concat([]byte{33}, id(kind), []byte{0xbc}, lock) }
	p2sh := slices.Concat([]byte{0xa9, 20}, make([]byte, 20), []byte{0x87})
	blocks := [][]byte{coin.Genesis}
	mine := func(outputs []*wire.TxOut, inputs ...wire.OutPoint) *wire.MsgTx {
		tx := wire.NewMsgTx(2)
		for i := range inputs {
			tx.AddTxIn(wire.NewTxIn(&inputs[i], []byte{1, 7}, nil))
		}
		for _, o := range outputs {
			tx.AddTxOut(o)
		}
		blocks = append(blocks, minedBlock(blocks[len(blocks)-1], len(blocks), tx))
		return tx
	}
	coins := func(height int) wire.OutPoint {
		_, txs := parseBlock(t, blocks[height])
		return wire.OutPoint{Hash: [32]byte(malfixID(txs[0]))}
	}
	at := func(tx *wire.MsgTx, i uint32) wire.OutPoint {
		return wire.OutPoint{Hash: [32]byte(malfixID(tx)), Index: i}
	}
	out := func(value int64, script []byte) *wire.TxOut { return wire.NewTxOut(value, script) }
	blocks = append(blocks, minedBlock(blocks[0], 1))
	first := mine([]*wire.TxOut{
		out(1<<62, colored(0xc1, p2pkh)), out(1<<62, colored(0xc1, p2sh)), out(3, colored(0xc1, p2pkh)), out(0, colored(0xc2, p2pkh)),
		out(1, colored(0xc3, p2sh)), out(2, colored(0xc0, p2pkh)), out(2, colored(0xc4, p2pkh)), out(2, colored(0xc1, []byte{0x51})),
		out(2, append([]byte{0x6a}, colored(0xc1, p2pkh)...)), out(2, colored(0xc1, nil)), out(2, []byte{0xbc, 0x51}),
	}, coins(1))
	second := mine([]*wire.TxOut{out(1<<62, colored(0xc1, p2pkh)), out(1<<62, colored(0xc1, p2pkh)), out(1<<62, colored(0xc1, p2sh))},
		at(first, 0), at(first, 1), at(first, 2))
	third := mine([]*wire.TxOut{out(1, p2pkh)}, at(second, 0), at(second, 1), at(second, 2), coins(2)) // burns all
	fourth := mine([]*wire.TxOut{out(9, colored(0xc1, p2sh)), out(1, p2sh)}, at(third, 0))
	mine([]*wire.TxOut{out(4, colored(0xc1, p2sh)), out(5, colored(0xc1, p2pkh))}, at(fourth, 0), coins(3))
	mine([]*wire.TxOut{out(40, p2pkh)}, at(first, 4), coins(4)) // burns the token
	record := coingenRecord(t)
	var file []byte
	for _, b := range blocks {
		file = append(file, record(b)...)
	}
	w := newColoredWorld(t)
	w.serve(t)
	w.syncTo(t, file)
	n := newColorModel(t, blocks)
	compareColors(t, w, n)
	compareColoredScripts(t, w, n, 100)
	compareTapyrusBlocks(t, w, blocks)
}

// Errors, and colors and addresses that nothing has.
func TestWrongColors(t *testing.T) {
	w := newColoredWorld(t)
	w.serve(t)
	w.expect(t, "/colors", "[]", jsonType, "10")
	coin, _ := coingen.Find("tapyrus")
	chain := coingen.New(coin, coingen.Options{Seed: 3})
	for range 3 {
		chain.Next()
	}
	w.syncTo(t, chain.File())
	unused := "c1" + strings.Repeat("ab", 32)
	zeros := text(&colorSums{Color: unused})
	w.expect(t, "/color/"+unused, fmt.Sprintf(`{"chain_stats":%s,"mempool_stats":%s}`, zeros, zeros), jsonType, "10")
	for _, list := range []string{"/txs", "/txs/chain", "/txs/mempool", "/txs/chain/" + strings.Repeat("ab", 32)} {
		w.expect(t, "/color/"+unused+list, "[]", jsonType, "10")
	}
	_, address := coloredAddress(slices.Concat([]byte{33}, unhexed(t, unused), []byte{0xbc}, p2pkh))
	w.expect(t, "/address/"+address, fmt.Sprintf(`{"address":"%s","chain_stats":{},"mempool_stats":{}}`, address), jsonType, "10")
	w.expect(t, "/address/"+address+"/utxo", "[]", jsonType, "10")
	for _, id := range []string{"x", "", "c1", "c4" + strings.Repeat("ab", 32), "00" + strings.Repeat("00", 32), unused + "00"} {
		for _, list := range []string{"", "/txs", "/txs/chain", "/txs/mempool", "/txs/chain/x"} {
			if a := w.ask(t, "/color/"+id+list, nil); a.status != http.StatusBadRequest || a.body != "Invalid color id" {
				t.Errorf("/color/%s%s: %+v", id, list, a)
			}
		}
	}
	if a := w.ask(t, "/color/"+unused+"/utxo", nil); a.status != http.StatusNotFound {
		t.Errorf("%+v", a)
	}
	b := newWorld(t, "regtest", nil)
	b.serve(t)
	for _, path := range []string{"/colors", "/color/" + unused, "/color/" + unused + "/txs", "/mempool/txs"} {
		if a := b.ask(t, path, nil); a.status != http.StatusNotFound || !strings.HasPrefix(a.body, "endpoint does not exist") {
			t.Errorf("%s of Bitcoin: %+v", path, a)
		}
	}
}

// The blocks of Tapyrus Core's tests (test/functional/data/rpc_getblockstats.json).
func TestRealTapyrusBlocks(t *testing.T) {
	w := newColoredWorld(t)
	w.serve(t)
	var blocks [][]byte
	var file []byte
	magic := coingenRecord(t)
	for i := range 4 {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "chains", "tapyrus", "testdata", fmt.Sprintf("dev-%d.blk", i)))
		if err != nil {
			t.Fatal(err)
		}
		blocks, file = append(blocks, b), append(file, magic(b)...)
	}
	w.syncTo(t, file)
	compareTapyrusBlocks(t, w, blocks)
	n := newColorModel(t, blocks)
	compareColoredScripts(t, w, n, 1000)
	w.expect(t, "/colors", "[]", jsonType, "10")
	for _, tx := range n.txs {
		if tx.height > 0 { // the script of block 0 has no address
			w.expect(t, "/tx/"+tx.text(), text(n.tx(tx)), jsonType, "10")
		}
	}
}

// A transaction of Tapyrus Core's tests with a colored output (test/util/data/txcoloredcoin1.hex).
func TestRealColoredTransaction(t *testing.T) {
	chain, err := bitcoin.Open(tapyrus.Spec, "testnet") // it has the addresses of the main network
	if err != nil {
		t.Fatal(err)
	}
	raw := unhexed(t, "01000000018594c5bdcaec8f06b78b596f31cd292a294fd031e24eec716f43dac91ea7494d000000008a4730440220131432090a6af42da3e8335ff110831b41a44f4e9d18d88f5d50278380696c7202200fc2e48938f323ad13625890c0ea926c8a189c08b8efc38376b20c8a2188e96e01410479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8ffffffff0100e1f505000000003c21c1d206ea613cebbfbfd230ec8b9d13f66d75a128ffa630d07c64d81236e24d6253bc76a91419d180d50f31b89b9757f4750a66e4ba12e3b52588ac00000000")
	msg := new(wire.MsgTx)
	if err := msg.DeserializeNoWitness(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	c := wallet.New(&served.Chain{Model: chain})
	got := esplora.TxObject(c, &wallet.Tx{ID: malfixID(msg), Raw: raw, Msg: msg, Weight: 4 * len(raw)})
	want := `"vout":[{"scriptpubkey":"21c1d206ea613cebbfbfd230ec8b9d13f66d75a128ffa630d07c64d81236e24d6253bc76a91419d180d50f31b89b9757f4750a66e4ba12e3b52588ac",` +
		`"scriptpubkey_asm":"OP_PUSHBYTES_33 c1d206ea613cebbfbfd230ec8b9d13f66d75a128ffa630d07c64d81236e24d6253 OP_COLOR OP_DUP OP_HASH160 OP_PUSHBYTES_20 19d180d50f31b89b9757f4750a66e4ba12e3b525 OP_EQUALVERIFY OP_CHECKSIG",` +
		`"scriptpubkey_type":"cp2pkh","scriptpubkey_address":"vmXejSsuy5KtpXhxKit3WicRUYig6UCb6Qmxf5RJuC37CuTS8W3NAMfet87iFEjC3XGq1Pucu6Hgn7","value":100000000,` +
		`"color_id":"c1d206ea613cebbfbfd230ec8b9d13f66d75a128ffa630d07c64d81236e24d6253"}]`
	if !strings.HasPrefix(got, `{"txid":"36fd451e2bfc8597f03275e0306a5597fb837b1b886860b9019a070e60f1f1e4","version":1,`) || !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

// coingenRecord returns a function that makes the record of a block in a block file.
func coingenRecord(t testing.TB) func(raw []byte) []byte {
	t.Helper()
	coin, ok := coingen.Find("tapyrus")
	if !ok {
		t.Fatal("no generator")
	}
	return coingen.New(coin, coingen.Options{}).Record
}
