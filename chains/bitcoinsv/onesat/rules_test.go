package onesat_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/bitcoinsv/onesat"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// chain applies the rules to transactions, and a slow model beside them.
type chain struct {
	t     *testing.T
	rng   *rand.Rand
	rules onesat.Rules

	height   model.HeightPk
	position int
	coins    []coin
	names    map[string]model.AssetBirthPk
	ids      map[model.AssetBirthPk]string
	tokens   []string         // ids of BSV-21
	supply   map[string]int64 // by id: minted less burned
	holding  map[string]int64 // by id, of unspent outputs
	counts   map[string]int
}

// coin is an unspent output with the assets that the rules and the model gave it.
type coin struct {
	model.TokenInput
	held map[string]uint64 // by id as text
}

// The rules ask only for names.
func (c *chain) Named(name []byte) (model.AssetBirthPk, bool, error) {
	b, ok := c.names[string(name)]
	return b, ok, nil
}
func (c *chain) Token(model.AssetBirthPk) (*model.Token, error) { panic("not needed") }
func (c *chain) Count() (uint64, error)                         { panic("not needed") }
func (c *chain) Value(model.UtxoPk) ([]byte, error)             { panic("not needed") }

// output is an output of a transaction. op is what its script states, if that is valid.
type output struct {
	value  uint64
	script []byte
	op     string
	id     string
	amount uint64
}

// output returns a random output.
func (c *chain) output(spent []coin) output {
	o := output{value: c.rng.Uint64N(4), script: lock}
	id := someID
	if len(c.tokens) > 0 {
		id = c.tokens[c.rng.IntN(len(c.tokens))]
	}
	amount := c.rng.Uint64N(20)
	for _, s := range spent { // mostly a token of the inputs
		for held, n := range s.held {
			if !strings.Contains(held, ":") && c.rng.IntN(2) == 0 {
				if id = held; n > 0 {
					amount = c.rng.Uint64N(n) + c.rng.Uint64N(2)
				}
			} else if of, ok := strings.CutSuffix(held, ":auth"); ok && c.rng.IntN(2) == 0 {
				id = of
			}
		}
	}
	if c.rng.IntN(40) == 0 {
		amount = 1<<64 - 1 - c.rng.Uint64N(2)
	}
	var text string
	kind := c.rng.IntN(12)
	if kind <= 2 && len(c.tokens) >= 4 && c.rng.IntN(30) > 0 {
		kind = 3 + c.rng.IntN(6)
	}
	switch kind {
	case 0, 1:
		o.op, text = "deploy+mint", fmt.Sprintf(`{"p":"bsv-20","op":"deploy+mint","sym":"S%d","amt":"%d"}`, amount, amount)
	case 2:
		o.op, amount, text = "deploy+auth", 0, `{"p":"bsv-20","op":"deploy+auth"}`
	case 3:
		o.op, text = "mint", fmt.Sprintf(`{"p":"bsv-20","op":"mint","id":"%s","amt":"%d"}`, id, amount)
	case 4:
		o.op, amount, text = "auth", 0, fmt.Sprintf(`{"p":"bsv-20","op":"auth","id":"%s"}`, id)
	case 5:
		o.op, text = "burn", fmt.Sprintf(`{"p":"bsv-20","op":"burn","id":"%s","amt":"%d"}`, id, amount)
	case 6, 7, 8:
		o.op, text = "transfer", fmt.Sprintf(`{"p":"bsv-20","op":"transfer","id":"%s","amt":"%d"}`, id, amount)
	case 9:
		text = fmt.Sprintf(`{"p":"bsv-20","op":"transfer","id":"%s","amt":%d}`, id, amount) // invalid
	default:
		return o
	}
	o.id, o.amount = id, amount
	o.script = append(envelope("application/bsv-20", text), lock...)
	if c.rng.IntN(2) == 0 {
		o.script = append(append([]byte(nil), lock...), envelope("application/bsv-20", text)...)
	}
	return o
}

// honest returns outputs that keep the tokens and authorities of inputs, and use the authorities.
func (c *chain) honest(spent []coin) (outputs []output) {
	add := func(op, id string, amount uint64) {
		text := fmt.Sprintf(`{"p":"bsv-20","op":"%s","id":"%s","amt":"%d"}`, op, id, amount)
		if op == "auth" {
			text = fmt.Sprintf(`{"p":"bsv-20","op":"auth","id":"%s"}`, id)
		}
		outputs = append(outputs, output{1, append(envelope("application/bsv-20", text), lock...), op, id, amount})
	}
	for _, s := range spent {
		for _, id := range slices.Sorted(maps.Keys(s.held)) {
			of, authority := strings.CutSuffix(id, ":auth")
			switch amount := s.held[id]; {
			case authority:
				if add("auth", of, 0); c.rng.IntN(2) == 0 {
					add("mint", of, c.rng.Uint64N(1000))
				}
			case !strings.Contains(id, ":"):
				part := c.rng.Uint64N(max(1, amount))
				add("transfer", id, part)
				add("transfer", id, amount-part)
			}
		}
	}
	return outputs
}

// expected returns the amounts in the outputs of a transaction. It is the slow model.
func (c *chain) expected(id string, spent []coin, outputs []output) []map[string]uint64 {
	held := make([]map[string]uint64, len(outputs))
	for i := range held {
		held[i] = map[string]uint64{}
	}
	groups := map[string][]int{}
	for i, o := range outputs {
		switch o.op {
		case "":
		case "deploy+mint":
			held[i][fmt.Sprintf("%s_%d", id, i)] = o.amount
		case "deploy+auth":
			held[i][fmt.Sprintf("%s_%d:auth", id, i)] = 1
		default:
			groups[o.id] = append(groups[o.id], i)
		}
	}
	for token, members := range groups {
		authority := false
		var low, lowOut uint64 // the sums of the inputs and of the outputs, each with its carries
		var high, highOut int
		add := func(low *uint64, high *int, n uint64) {
			if *low += n; *low < n {
				*high++
			}
		}
		for _, s := range spent {
			add(&low, &high, s.held[token])
			authority = authority || s.held[token+":auth"] > 0
		}
		for _, i := range members {
			add(&lowOut, &highOut, outputs[i].amount)
			if outputs[i].op == "mint" && authority {
				add(&low, &high, outputs[i].amount)
			}
		}
		if high < highOut || high == highOut && low < lowOut {
			c.counts["rejected"]++
			continue
		}
		for _, i := range members {
			switch op := outputs[i].op; {
			case op == "transfer" || op == "mint":
				held[i][token] = outputs[i].amount
				if outputs[i].amount > 0 {
					c.counts[fmt.Sprint(op, authority)]++
				}
			case op == "auth" && authority:
				held[i][token+":auth"] = 1
				c.counts["auth"]++
			}
		}
	}
	if c.height >= c.rules.From {
		type satoshi struct {
			coin  coin
			alone bool
		}
		var sats []satoshi
		for _, s := range spent {
			for range s.Value {
				sats = append(sats, satoshi{s, s.Value == 1})
			}
		}
		at := 0
		for i, o := range outputs {
			if o.value == 1 && at < len(sats) {
				if s := sats[at]; s.alone && s.coin.Utxo.Height() >= c.rules.From {
					for of := range s.coin.held {
						if strings.HasSuffix(of, ":origin") {
							held[i][of] = 1
							c.counts["moved"]++
						}
					}
				} else {
					held[i][fmt.Sprintf("%s_%d:origin", id, i)] = 1
				}
			}
			at += int(o.value)
		}
	}
	for _, h := range held {
		maps.DeleteFunc(h, func(_ string, n uint64) bool { return n == 0 })
	}
	return held
}

// step adds a transaction.
func (c *chain) step() {
	t := c.t
	if c.position++; c.rng.IntN(4) == 0 {
		c.height, c.position = c.height+1, 0
	}
	pk, err := model.NarrowPointers.Tx(c.height, c.position)
	if err != nil {
		t.Fatal(err)
	}
	tx := &model.TokenTx{Tx: &model.Tx{}, Pk: pk, Block: &model.Block{}}
	for i := range tx.Hash {
		tx.Hash[i] = byte(c.rng.Uint32())
	}
	id := strings.TrimSuffix(onesat.NewOutpoint(tx.Hash, 0).String(), "_0")
	var spent []coin
	for range c.rng.IntN(4) { // none: a coinbase
		if len(c.coins) == 0 {
			break
		}
		i, last := c.rng.IntN(len(c.coins)), len(c.coins)-1
		s := c.coins[i]
		c.coins[i], c.coins = c.coins[last], c.coins[:last]
		spent, tx.Spent = append(spent, s), append(tx.Spent, s.TokenInput)
		for of, n := range s.held {
			c.holding[of] -= int64(n)
		}
	}
	var outputs []output
	if c.rng.IntN(3) > 0 {
		outputs = c.honest(spent)
	}
	for range c.rng.IntN(4) {
		outputs = append(outputs, c.output(spent))
	}
	outputs = append(outputs, output{value: c.rng.Uint64N(3), script: lock})
	for _, o := range outputs {
		tx.Outputs = append(tx.Outputs, model.Output{Value: o.value})
	}
	tx.Message = onesat.Rules{}.MessageOf(len(outputs), func(i int) (uint64, []byte) { return outputs[i].value, outputs[i].script })
	_, names := c.rules.Needs(tx.Message)
	needed := map[string]bool{}
	for _, name := range names {
		needed[onesat.Outpoint(name).String()] = true
	}
	for _, o := range outputs {
		if o.op != "" && !strings.HasPrefix(o.op, "deploy") && !needed[o.id] {
			t.Fatalf("the name %s is not needed: %q", o.id, names)
		}
	}
	if err := c.rules.Derive(tx, c); err != nil {
		t.Fatal(err)
	}
	for _, b := range tx.Births {
		text := onesat.FormatID(b.ID)
		if _, known := c.ids[b.Asset]; known || b.Asset.Utxo.Tx() != pk || text == "" {
			t.Fatalf("the birth %v of %s", b.Asset, text)
		}
		if c.ids[b.Asset] = text; len(b.Name) > 0 {
			c.names[string(b.Name)] = b.Asset
			c.tokens = append(c.tokens, text)
			if text != onesat.Outpoint(b.Name).String() {
				t.Fatalf("%s has the name %x", text, b.Name)
			}
		}
		if _, err := c.rules.Parse(b.Info); err != nil {
			t.Fatal(err)
		}
	}
	want := c.expected(id, spent, outputs)
	got := make([]map[string]uint64, len(outputs))
	made := make([]coin, len(outputs))
	for i := range got {
		got[i] = map[string]uint64{}
		made[i].Utxo, _ = pk.Utxo(i)
		made[i].Value = outputs[i].value
	}
	last := 0
	for _, h := range tx.Held {
		text := c.ids[h.Asset]
		if _, twice := got[h.Output][text]; h.Output < last || twice || h.Amount.IsZero() || h.Amount.Hi > 0 || text == "" {
			t.Fatalf("held %+v", tx.Held)
		}
		last = h.Output
		got[h.Output][text] = h.Amount.Lo
		made[h.Output].Assets = append(made[h.Output].Assets, h.TokenAmount)
	}
	for i := range got {
		if !maps.Equal(got[i], want[i]) {
			t.Fatalf("transaction %s at %d, output %d: %v, expected %v\nspent %+v\noutputs %+v", id, c.height, i, got[i], want[i], spent, outputs)
		}
		made[i].held = got[i]
		for of, n := range got[i] {
			c.holding[of] += int64(n)
		}
	}
	c.coins = append(c.coins, made...)
	seen := map[model.AssetBirthPk]bool{}
	for _, s := range tx.Supplies {
		if seen[s.Asset] || !s.Mints && (!s.Minted.IsZero() || s.Burned.IsZero()) {
			t.Fatalf("supplies %+v", tx.Supplies)
		}
		seen[s.Asset] = true
		c.supply[c.ids[s.Asset]] += int64(s.Minted.Lo) - int64(s.Burned.Lo) // modulo 2^64
	}
	if c.rng.IntN(50) > 0 {
		return
	}
	for of, n := range c.holding {
		if c.supply[of] != n {
			t.Fatalf("%s: minted less burned %d, held %d", of, c.supply[of], n)
		}
	}
}

// Every output holds the amounts of the slow model, and the supply of each asset is the sum of its unspent outputs.
func TestRulesEqualTheModel(t *testing.T) {
	all := map[string]int{}
	rng := testseed.Rand(t)
	for range testrun.Amount(60, 15) {
		c := &chain{
			t: t, rng: rng, rules: onesat.Rules{From: 5}, names: map[string]model.AssetBirthPk{},
			ids: map[model.AssetBirthPk]string{}, supply: map[string]int64{}, holding: map[string]int64{}, counts: all,
		}
		for range 400 {
			c.step()
		}
	}
	for _, event := range []string{"rejected", "transferfalse", "minttrue", "mintfalse", "auth", "moved"} {
		if all[event] == 0 {
			t.Errorf("no chain has the event %s: %v", event, all)
		}
	}
}

// Sums of amounts do not wrap around: two amounts of 2^63 are not 0.
func TestSumsDoNotWrap(t *testing.T) {
	of, _ := onesat.ParseOutpoint(someID)
	c := &chain{names: map[string]model.AssetBirthPk{string(of[:]): {Utxo: 9}}}
	tx := &model.TokenTx{Tx: &model.Tx{Outputs: make([]model.Output, 2)}, Pk: 1 << 40}
	script := envelope("application/bsv-20", `{"p":"bsv-20","op":"transfer","id":"`+someID+`","amt":"9223372036854775808"}`)
	tx.Message = onesat.Rules{}.MessageOf(2, func(int) (uint64, []byte) { return 1, script })
	if err := (onesat.Rules{}).Derive(tx, c); err != nil || len(tx.Held) > 0 {
		t.Errorf("%+v, %v", tx.Held, err)
	}
}

// Only tokens can be in blocks before the first ordinals.
func TestHeightsWithAssets(t *testing.T) {
	for _, c := range []struct {
		rules   onesat.Rules
		h, want model.HeightPk
	}{
		{onesat.Rules{From: 100}, 7, 7},
		{onesat.Rules{From: 100, NoOrdinals: true}, 7, 7},
		{onesat.Rules{From: 100, NoTokens: true}, 7, 100},
		{onesat.Rules{From: 100, NoTokens: true}, 100, 100},
		{onesat.Rules{From: 100, NoTokens: true}, 101, 101},
		{onesat.Rules{NoTokens: true}, 0, 0},
	} {
		if got := c.rules.NextHeight(c.h); got != c.want {
			t.Errorf("%+v, from %d: %d, expected %d", c.rules, c.h, got, c.want)
		}
	}
}
