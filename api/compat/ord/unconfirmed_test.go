package ord_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/ord"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core/pending"
	"birthmark/core/pending/answers"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// withPool serves the world beside a node that has these unconfirmed transactions, and waits until they are served.
func (w *world) withPool(txs ...*wire.MsgTx) *pending.Follower {
	w.Helper()
	serialized := func(write func(*bytes.Buffer) error) []byte {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			w.Fatal(err)
		}
		return b.Bytes()
	}
	var blocks [][]byte
	for _, b := range w.chain.Blocks() {
		blocks = append(blocks, serialized(func(to *bytes.Buffer) error { return b.Serialize(to) }))
	}
	pool := map[string][]byte{}
	for _, tx := range txs {
		pool[tx.TxHash().String()] = serialized(func(to *bytes.Buffer) error { return tx.Serialize(to) })
	}
	uri := cointest.NodeWithPool(w, "regtest", params.Bitcoin.Format, func() [][]byte { return blocks },
		func() map[string][]byte { return pool })
	f := answertest.Mempool(w, w.db, uri, len(pool))
	state := func() served.State { return served.State{} }
	handler, err := ord.New(ord.Options{
		Chain: wallet.New(&served.Chain{Name: "bitcoin", Model: w.db.Chain(), View: w.db.View, Moved: w.db.Moved, State: state, Mempool: f}),
		Rules: w.db.Chain().Traits().Tokens.Rules, Path: "/ord",
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Handler = handler
	return f
}

// runesOf returns the member runes of the answer about an output.
func (w *world) runesOf(tx *wire.MsgTx, index int) string {
	w.Helper()
	_, body := w.ask(fmt.Sprintf("output/%s:%d", tx.TxHash(), index), "")
	_, rest, ok := strings.Cut(body, `"runes":`)
	text, _, found := strings.Cut(rest, `,"sat_ranges"`)
	if !ok || !found {
		w.Fatalf("output %d of %s: %s", index, tx.TxHash(), body)
	}
	return text
}

// Outputs of unconfirmed transactions have the runes that the next block would give them. A rune whose etching is not
// confirmed has the transaction in place of an id. Each transaction sees the mints of its ancestors only.
func TestRunesOfUnconfirmedOutputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name, spacers, _ := runes.ParseSpaced("AAAAAA•AAAAAAAB")
	etching := w.etch(&runes.Runestone{Etching: &runes.Etching{
		Name: runes.Some(name), Spacers: spacers, Premine: model.Uint128Of(1000), Terms: runes.Some(runes.Terms{
			Amount: runes.Some(model.Uint128Of(10)), Cap: runes.Some(model.Uint128Of(1)),
		}),
	}})
	id := runes.ID{Block: uint64(w.chain.Height()), Tx: 1}
	coins := []*wire.MsgTx{w.coin(), w.coin(), w.coin()}
	commit := bitcointest.Spend(w.coin(), 0, out(10_000, payTaproot))
	w.chain.Mine(commit)
	w.chain.MineEmpty(5)
	w.sync()

	told := func(s runes.Runestone) *wire.TxOut { return out(0, s.Script()) }
	mint := told(runes.Runestone{Mint: runes.Some(id)})
	first := bitcointest.Spend(coins[0], 0, out(5000, payKeyHash), mint)
	second := bitcointest.Spend(first, 0, out(4000, payKeyHash), mint) // the cap is reached
	apart := bitcointest.Spend(coins[1], 0, out(5000, payKeyHash), mint)
	moved := bitcointest.Spend(etching, 0, out(300, payTaproot), out(400, payTaproot), told(runes.Runestone{
		Edicts: []runes.Edict{{ID: id, Amount: model.Uint128Of(300), Output: 1}},
	}))
	other, _, _ := runes.ParseSpaced("AAAAAAAAAAAAAC")
	created := bitcointest.Spend(commit, 0, out(9000, payKeyHash), told(runes.Runestone{Etching: &runes.Etching{
		Name: runes.Some(other), Premine: model.Uint128Of(7), Divisibility: 3,
	}}))
	data := other.Commitment()
	created.TxIn[0].Witness = wire.TxWitness{append([]byte{byte(len(data))}, data...), {}}
	after := bitcointest.Spend(created, 0, out(8000, payKeyHash), out(900, payTaproot))
	all := []*wire.MsgTx{first, second, apart, moved, created, after}
	f := w.withPool(all...)

	pile := func(amount int) string {
		return fmt.Sprintf(`{"AAAAAA•AAAAAAAB":{"amount":%d,"divisibility":0,"symbol":null}}`, amount)
	}
	const newPile = `{"AAAAAAAAAAAAAC":{"amount":7,"divisibility":3,"symbol":null}}`
	for _, c := range []struct {
		tx    *wire.MsgTx
		index int
		runes string
	}{
		{first, 0, pile(10)}, {second, 0, pile(10)}, {apart, 0, pile(10)}, {moved, 0, pile(700)}, {moved, 1, pile(300)},
		{created, 0, newPile}, {created, 1, "{}"}, {after, 0, newPile}, {after, 1, "{}"},
	} {
		if got := w.runesOf(c.tx, c.index); got != c.runes {
			t.Errorf("output %d of %s: %s, expected %s", c.index, c.tx.TxHash(), got, c.runes)
		}
	}
	text := func(a *query.PendingTxAnswer) (text string) {
		for i, o := range a.Outputs {
			for _, e := range o.Assets {
				text += fmt.Sprintf("%d holds %s %s\n", i, e.Asset, e.Amount)
			}
		}
		for _, m := range a.Mints {
			text += fmt.Sprintf("mint %s %s\n", m.Asset, m.Amount)
		}
		for _, c := range a.Creates {
			text += fmt.Sprintf("create %s %s %d\n", c.Asset, c.Name, *c.Decimals)
		}
		return text
	}
	unconfirmed := func(f *pending.Follower, tx *wire.MsgTx) (got string) {
		t.Helper()
		err := f.View(t.Context(), func(v *query.View, o *pending.Overlay) error {
			return v.From(t.Context(), func(q *query.Query) error {
				if one := o.Tx(model.Hash(tx.TxHash())); one != nil {
					got = text(answers.NewReader(q, o).Tx(one))
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	made := created.TxHash().String()
	for tx, want := range map[*wire.MsgTx]string{
		first:   fmt.Sprintf("0 holds %s 10\nmint %s 10\n", id, id),
		second:  fmt.Sprintf("0 holds %s 10\n", id),
		created: fmt.Sprintf("0 holds %s 7\nmint %s 7\ncreate %s AAAAAAAAAAAAAC 3\n", made, made, made),
		after:   fmt.Sprintf("0 holds %s 7\n", made),
	} {
		if got := unconfirmed(f, tx); got != want {
			t.Errorf("%s:\n%s\nexpected\n%s", tx.TxHash(), got, want)
		}
	}
	// A block confirms the etching and a mint: the remaining transactions have its id, and the other mints create nothing.
	w.chain.Mine(created, apart)
	w.sync()
	for _, c := range []struct {
		tx   *wire.MsgTx
		want string
	}{{first, ""}, {after, fmt.Sprintf("0 holds %d:1 7\n", w.chain.Height())}} {
		deadline := time.Now().Add(testrun.Patience)
		got := unconfirmed(f, c.tx)
		for got != c.want && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
			got = unconfirmed(f, c.tx)
		}
		if got != c.want {
			t.Errorf("after a block %s:\n%s\nexpected\n%s", c.tx.TxHash(), got, c.want)
		}
	}
	if f.Standing().Count() != len(all)-2 {
		t.Errorf("%d unconfirmed transactions", f.Standing().Count())
	}
}
