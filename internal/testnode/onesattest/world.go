package onesattest

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

// Holdings are amounts of assets by their ids.
type Holdings map[string]uint64

// World is a chain of random transactions with tokens and ordinals: valid, invalid and hostile ones.
type World struct {
	*bitcointest.Chain
	Held map[wire.OutPoint]Holdings // of all outputs that hold something, also of spent ones
	Rng  *rand.Rand

	coins  []coin
	tokens []string
	names  int
}

type coin struct {
	at    wire.OutPoint
	value int64
	held  Holdings
}

// operation is the valid operation of an output.
type operation struct {
	op, id string
	amount uint64
}

// NewWorld returns a chain with the genesis block.
func NewWorld(rng *rand.Rand) *World {
	return &World{Chain: bitcointest.NewChain(), Held: map[wire.OutPoint]Holdings{}, Rng: rng}
}

// Clone returns a copy that can continue with other blocks.
func (w *World) Clone() *World {
	c := *w
	c.Chain, c.Held = w.Chain.Fork(w.Height()), maps.Clone(w.Held)
	c.coins, c.tokens = slices.Clone(w.coins), slices.Clone(w.tokens)
	return &c
}

// Next mines a block of up to n transactions.
func (w *World) Next(n int) {
	var txs []*wire.MsgTx
	for range w.Rng.IntN(n + 1) {
		if len(w.coins) > 0 {
			txs = append(txs, w.tx())
		}
	}
	b := w.Chain.Mine(txs...)
	w.coins = append(w.coins, coin{Outpoint(b.Transactions[0], 0), b.Transactions[0].TxOut[0].Value, Holdings{}})
}

// tx returns a random transaction, and adds what its outputs hold to the model.
func (w *World) tx() *wire.MsgTx {
	var spent []coin
	var from []wire.OutPoint
	rest := int64(0)
	for range 1 + w.Rng.IntN(3) {
		if len(w.coins) == 0 {
			break
		}
		i := w.Rng.IntN(len(w.coins))
		if w.Rng.IntN(2) == 0 {
			i = len(w.coins) - 1 - w.Rng.IntN(min(4, len(w.coins)))
		}
		spent, from = append(spent, w.coins[i]), append(from, w.coins[i].at)
		rest += w.coins[i].value
		w.coins = slices.Delete(w.coins, i, i+1)
	}
	var outputs []*wire.TxOut
	var operations []operation
	add := func(o operation, value int64) {
		value = min(value, rest)
		rest -= value
		lock := Lock(byte(1 + w.Rng.IntN(4)))
		script := lock
		if o.op != "" {
			in := Envelope("application/bsv-20", o.text(w.Rng.IntN(20) == 0), nil)
			if script = append(in, lock...); w.Rng.IntN(4) == 0 {
				script = append(slices.Clone(lock), in...)
			}
		}
		outputs, operations = append(outputs, wire.NewTxOut(value, script)), append(operations, o)
	}
	if w.Rng.IntN(3) > 0 {
		for _, s := range spent {
			w.keep(s, add)
		}
	}
	for range w.Rng.IntN(4) {
		add(w.any(spent), w.Rng.Int64N(3))
	}
	add(operation{}, rest-min(rest, w.Rng.Int64N(2)))
	w.names++
	tx := Spend(from, outputs...)
	tx.LockTime = uint32(w.names) // no two are equal
	for i := range operations {
		if !operations[i].valid(outputs[i].PkScript) {
			operations[i] = operation{}
		}
	}
	w.settle(tx, spent, operations)
	return tx
}

// text returns the JSON of an operation; invalid: its amount is a number.
func (o operation) text(invalid bool) string {
	text := fmt.Sprintf(`{"p":"bsv-20","op":"%s"`, o.op)
	if o.id != "" {
		text += fmt.Sprintf(`,"id":"%s"`, o.id)
	}
	switch {
	case strings.HasSuffix(o.op, "auth"):
	case invalid:
		text += fmt.Sprintf(`,"amt":%d`, o.amount)
	default:
		text += fmt.Sprintf(`,"amt":"%d"`, o.amount)
	}
	return text + "}"
}

// valid reports whether a script has the operation with a valid amount.
func (o operation) valid(script []byte) bool {
	return o.op == "" || strings.Contains(string(script), o.text(false))
}

// keep adds outputs that keep the tokens of an input, and use its authorities.
func (w *World) keep(s coin, add func(operation, int64)) {
	for _, id := range slices.Sorted(maps.Keys(s.held)) {
		of, authority := strings.CutSuffix(id, ":auth")
		switch amount := s.held[id]; {
		case authority:
			if add(operation{"auth", of, 0}, 1); w.Rng.IntN(2) == 0 {
				add(operation{"mint", of, w.Rng.Uint64N(1000)}, 1)
			}
		case strings.HasSuffix(id, ":origin"):
			if w.Rng.IntN(2) == 0 {
				add(operation{}, 1)
			}
		default:
			part := w.Rng.Uint64N(amount)
			add(operation{"transfer", id, part}, 1)
			add(operation{"transfer", id, amount - part}, 1)
		}
	}
}

// any returns a random operation.
func (w *World) any(spent []coin) operation {
	id := strings.Repeat("ab", 32) + "_0"
	if len(w.tokens) > 0 {
		id = w.tokens[w.Rng.IntN(len(w.tokens))]
	}
	amount := w.Rng.Uint64N(20)
	for _, s := range spent {
		for _, held := range slices.Sorted(maps.Keys(s.held)) {
			if !strings.Contains(held, ":") && w.Rng.IntN(2) == 0 {
				id, amount = held, w.Rng.Uint64N(s.held[held])+w.Rng.Uint64N(2)
			} else if of, ok := strings.CutSuffix(held, ":auth"); ok && w.Rng.IntN(2) == 0 {
				id = of
			}
		}
	}
	if w.Rng.IntN(40) == 0 {
		amount = 1<<64 - 1 - w.Rng.Uint64N(2)
	}
	kinds := []string{"deploy+mint", "deploy+auth", "mint", "auth", "burn", "transfer", "transfer", ""}
	o := operation{kinds[w.Rng.IntN(len(kinds))], id, amount}
	if strings.HasPrefix(o.op, "deploy") {
		o.id = ""
	}
	if strings.HasSuffix(o.op, "auth") || o.op == "" {
		o.amount = 0
	}
	return o
}

// settle is the slow model: it sets the holdings of the outputs of a transaction.
func (w *World) settle(tx *wire.MsgTx, spent []coin, operations []operation) {
	held := make([]Holdings, len(operations))
	totals := map[string]*big.Int{}
	for i, o := range operations {
		held[i] = Holdings{}
		switch id := ID(tx, i); o.op {
		case "":
		case "deploy+mint":
			held[i][id] = o.amount
			w.tokens = append(w.tokens, id)
		case "deploy+auth":
			held[i][id+":auth"] = 1
			w.tokens = append(w.tokens, id)
		default:
			totals[o.id] = new(big.Int)
		}
	}
	for id := range totals {
		authority, in, out := false, new(big.Int), new(big.Int)
		for _, s := range spent {
			in.Add(in, new(big.Int).SetUint64(s.held[id]))
			authority = authority || s.held[id+":auth"] == 1
		}
		for _, o := range operations {
			if o.id != id {
				continue
			}
			amount := new(big.Int).SetUint64(o.amount)
			if out.Add(out, amount); o.op == "mint" && authority {
				in.Add(in, amount)
			}
		}
		if in.Cmp(out) < 0 {
			continue
		}
		for i, o := range operations {
			switch {
			case o.id != id:
			case o.op == "transfer", o.op == "mint":
				held[i][id] = o.amount
			case o.op == "auth" && authority:
				held[i][id+":auth"] = 1
			}
		}
	}
	at := int64(0)
	for i, out := range tx.TxOut {
		if out.Value == 1 {
			w.follow(ID(tx, i), held[i], spent, at)
		}
		at += out.Value
	}
	for i, h := range held {
		maps.DeleteFunc(h, func(_ string, n uint64) bool { return n == 0 })
		o := Outpoint(tx, uint32(i))
		w.coins = append(w.coins, coin{o, tx.TxOut[i].Value, h})
		if len(h) > 0 {
			w.Held[o] = h
		}
	}
}

// follow sets the ordinal of an output of one satoshi, which is the satoshi at a place of the inputs.
func (w *World) follow(id string, held Holdings, spent []coin, place int64) {
	before := int64(0)
	for _, s := range spent {
		if before += s.value; place >= before {
			continue
		}
		if s.value > 1 {
			held[id+":origin"] = 1
			return
		}
		for of := range s.held {
			if strings.HasSuffix(of, ":origin") {
				held[of] = 1
			}
		}
		return
	}
}
