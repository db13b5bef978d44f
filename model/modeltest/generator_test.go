package modeltest

import (
	"bytes"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/model"
)

const testBlocks = 300

func TestASeedMakesOneChain(t *testing.T) {
	n := testseed.Of(t, 1)
	for _, v := range Variants() {
		g := v.NewGenerator(n)
		first := g.Blocks(20)
		one, two := g.Fork(1), g.Fork(2)
		ones, twos := one.Blocks(10), two.Blocks(10)
		rest := g.Blocks(20)
		if again := v.NewGenerator(n).Blocks(40); !reflect.DeepEqual(append(first, rest...), again) {
			t.Errorf("%s: forks change the chain they branch from", v.Name)
		}
		if !reflect.DeepEqual(ones, forkAt(v, n, 20, 1).Blocks(10)) {
			t.Errorf("%s: the same fork is not reproducible", v.Name)
		}
		if ones[0].Parent != first[19].Hash || ones[0].Hash == twos[0].Hash || ones[0].Hash == rest[0].Hash {
			t.Errorf("%s: forks do not branch at their first block", v.Name)
		}
		if other := v.NewGenerator(n + 1).Blocks(1); other[0].Hash == first[0].Hash {
			t.Errorf("%s: two seeds generate the same chain", v.Name)
		}
	}
}

func forkAt(v Variant, seed uint64, height int, n uint64) *Generator {
	g := v.NewGenerator(seed)
	g.Blocks(height)
	return g.Fork(n)
}

// ledger validates a chain and counts cases that are rare on real chains.
type ledger struct {
	v      Variant
	coins  map[string]*made // by the reference in inputs
	born   map[string]int   // value -> height of its birth
	txs    map[model.Hash]bool
	ids    map[string]bool // minted assets
	issued uint64
	counts map[string]int
}

// made is an unspent output.
type made struct {
	*model.Output
	block  int
	copies int // earlier occurrences of its transaction
}

func (l *ledger) name(in model.Input) string {
	if l.v.Boxes {
		return string(in.Value)
	}
	return fmt.Sprint(in.Tx, in.Index)
}

func (l *ledger) block(height int, b *model.Block) error {
	if len(b.Txs) == 0 || (l.v.Coinbase && len(b.Txs) == 1) {
		l.counts["empty block"]++
	}
	depth := map[string]int{} // by output: the length of the chain of spends within this block that created it
	txs := b.Txs
	if l.v.Unordered {
		txs = l.parentsFirst(b.Txs)
		seen := map[model.Hash]bool{}
		for _, t := range slices.Backward(b.Txs) {
			if slices.ContainsFunc(t.Inputs, func(in model.Input) bool { return seen[in.Tx] }) {
				l.counts["spend of a later transaction"]++
			}
			seen[t.Hash] = true
		}
	}
	for i, tx := range append(b.Genesis[:len(b.Genesis):len(b.Genesis)], txs...) {
		if err := l.tx(height, &tx, i < len(b.Genesis), depth); err != nil {
			return fmt.Errorf("block %d, transaction %d: %w", b.Height, i, err)
		}
	}
	return nil
}

// parentsFirst orders transactions of a block so that each follows those whose outputs it spends.
func (l *ledger) parentsFirst(txs []model.Tx) (sorted []model.Tx) {
	byHash, visited := map[model.Hash]*model.Tx{}, map[model.Hash]bool{}
	for i := range txs {
		byHash[txs[i].Hash] = &txs[i]
	}
	var visit func(t *model.Tx)
	visit = func(t *model.Tx) {
		if visited[t.Hash] {
			return
		}
		visited[t.Hash] = true
		for _, in := range t.Inputs {
			if parent := byHash[in.Tx]; parent != nil {
				visit(parent)
			}
		}
		sorted = append(sorted, *t)
	}
	for i := range txs {
		visit(&txs[i])
	}
	return sorted
}

func (l *ledger) tx(height int, t *model.Tx, genesis bool, depth map[string]int) error {
	in, out := uint64(0), uint64(0)
	assets := map[string]*big.Int{} // inputs plus mints minus outputs
	add := func(id []byte, n *big.Int, sign int64) {
		if assets[string(id)] == nil {
			assets[string(id)] = new(big.Int)
		}
		assets[string(id)].Add(assets[string(id)], new(big.Int).Mul(n, big.NewInt(sign)))
	}
	longest := 0
	for _, input := range t.Inputs {
		name := l.name(input)
		c := l.coins[name]
		if c == nil {
			return fmt.Errorf("spends an output that is spent or does not exist")
		}
		delete(l.coins, name)
		in += c.Value
		for _, a := range c.Assets {
			add(a.ID, new(big.Int).SetUint64(a.Amount), 1)
		}
		if c.block == height {
			l.counts["spend in the same block"]++
			longest = max(longest, depth[name]+1)
		}
		if c.copies > 0 {
			l.counts["spend of a repeated transaction"]++
		}
	}
	if longest > 1 {
		l.counts["chain of spends in a block"]++
	}
	if len(t.Inputs) > 20 {
		l.counts["many inputs"]++
	}
	if len(t.Outputs) > 20 {
		l.counts["many outputs"]++
	}
	copies := 0
	if l.txs[t.Hash] {
		copies = 1
		l.counts["repeated transaction"]++
		if len(t.Inputs) > 0 {
			l.counts["repeated transaction that spends"]++
		}
		for i := range t.Outputs {
			if l.coins[fmt.Sprint(t.Hash, i)] != nil {
				l.counts["repeated transaction, the older one unspent"]++
			}
		}
	}
	l.txs[t.Hash] = true
	minted := map[string]bool{}
	for _, m := range t.Mints {
		if m.Amount.Sign() == 0 || minted[string(m.Asset)] {
			return fmt.Errorf("mints %v of %s, or mints it twice", m.Amount, m.Asset)
		}
		minted[string(m.Asset)] = true
		add(m.Asset, m.Amount, 1)
		switch {
		case m.Amount.Sign() < 0 && l.v.Implied:
			return fmt.Errorf("states a burn")
		case m.Amount.Sign() < 0:
			l.counts["burn"]++
		case !m.Amount.IsUint64():
			l.counts["mint of more than 64 bits"]++
			fallthrough
		default:
			l.counts["mint"]++
			if l.ids[string(m.Asset)] {
				l.counts["mint of an asset that exists"]++
			}
			l.ids[string(m.Asset)] = true
		}
	}
	if t.FirstOutput > 0 {
		l.counts["outputs that begin late"]++
		if !l.v.OutputOffset {
			return fmt.Errorf("its outputs begin with output %d", t.FirstOutput)
		}
	}
	inTx := map[string]int{}
	holding := map[string]int{}
	for i := range t.Outputs {
		o := &t.Outputs[i]
		out += o.Value
		box, err := l.output(height, o, inTx)
		if err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		seen := map[string]bool{}
		for n, a := range o.Assets {
			add(a.ID, new(big.Int).SetUint64(a.Amount), -1)
			if a.Amount == 0 {
				l.counts["entry of amount 0"]++
				if n < len(o.Assets)-1 {
					l.counts["entry of amount 0 before others"]++
				}
				if l.ids[string(a.ID)] {
					l.counts["entry of amount 0 of an asset that exists"]++
				}
				continue
			}
			if seen[string(a.ID)] {
				l.counts["asset twice in an output"]++
			} else if holding[string(a.ID)]++; minted[string(a.ID)] && holding[string(a.ID)] == 2 {
				l.counts["mint over several outputs"]++
			}
			seen[string(a.ID)] = true
			if !minted[string(a.ID)] {
				l.counts["asset moved"]++
			}
		}
		name := fmt.Sprint(t.Hash, t.OutputIndex(i))
		if l.v.Boxes {
			name = box
		}
		l.coins[name] = &made{o, height, copies}
		depth[name] = longest
	}
	for id, left := range assets {
		if l.v.Implied && left.Sign() > 0 {
			l.counts["burn"]++
		} else if left.Sign() != 0 {
			return fmt.Errorf("%v of asset %s are neither minted nor burned", left, id)
		}
	}
	switch {
	case genesis:
		l.issued += out
	case len(t.Inputs) == 0:
		if out != subsidy || !l.v.Coinbase {
			return fmt.Errorf("a coinbase of %d", out)
		}
		l.issued += out
	case in != out:
		return fmt.Errorf("inputs are %d, outputs %d", in, out)
	}
	return nil
}

// output checks the keys of an output and returns its box.
func (l *ledger) output(height int, o *model.Output, inTx map[string]int) (box string, err error) {
	if o.Value == 0 {
		l.counts["output of value 0"]++
	}
	if len(o.Keys) == 0 {
		l.counts["output without keys"]++
	}
	kinds := map[int]int{}
	alike := map[string]bool{}
	for _, k := range o.Keys {
		value := fmt.Sprint(k.Index, k.Value)
		kinds[k.Index]++
		if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize || alike[value] || (k.Index != labelIndex && kinds[k.Index] > 1) {
			return "", fmt.Errorf("%d bytes of %s, or too many values", len(k.Value), IndexNames[k.Index])
		}
		alike[value] = true
		birth, known := l.born[value]
		if k.Index == boxIndex {
			box = string(k.Value)
			if known {
				return "", fmt.Errorf("a box that exists")
			}
		}
		switch {
		case !known:
			l.born[value] = height
		case birth == height:
			l.counts["birth and reuse in a block"]++
		default:
			l.counts["value used again later"]++
		}
		if inTx[value]++; inTx[value] == 2 && k.Index != tagIndex {
			l.counts["value twice in a transaction"]++
		}
		switch len(k.Value) {
		case 1:
			l.counts["value of a byte"]++
		case model.MaxValueSize:
			l.counts["value as long as can be"]++
		}
	}
	if kinds[labelIndex] > 1 {
		l.counts["list of several values"]++
	}
	return box, nil
}

// Generated chains follow the rules of their variant and contain rare cases often.
func TestMadeUpChainsAreValidAndHard(t *testing.T) {
	n := testseed.Of(t, 1)
	Each(t, func(t *testing.T, v Variant) {
		l := &ledger{v: v, coins: map[string]*made{}, born: map[string]int{}, txs: map[model.Hash]bool{}, ids: map[string]bool{}, counts: map[string]int{}}
		c := v.Chain("one")
		var tip model.Point
		for i, b := range v.NewGenerator(n).Blocks(testBlocks) {
			if i == 0 && (b.Height != v.First || b.Parent != (model.Hash{}) || (len(b.Genesis) > 0) != v.Genesis) {
				t.Fatalf("the first block is %d on %s with %d genesis transactions", b.Height, b.Parent, len(b.Genesis))
			}
			if i > 0 && (b.Height != tip.Height+1 || b.Parent != tip.Hash || len(b.Genesis) > 0 || (v.Slots && b.Slot <= tip.Slot)) {
				t.Fatalf("block %d (slot %d) is not the child of %d (slot %d)", b.Height, b.Slot, tip.Height, tip.Slot)
			}
			tip = b.Point()
			if err := l.block(i, b); err != nil {
				t.Fatal(err)
			}
			if hash, err := c.(model.HeaderHasher).HashHeader(b.Header); err != nil || hash != b.Hash {
				t.Fatalf("block %d: its header hashes to %s, %v", b.Height, hash, err)
			}
			issued, exact, ok := c.Supply(b.Height)
			if !ok || !exact || issued != l.issued {
				t.Fatalf("block %d: the supply is %d, %d were issued", b.Height, issued, l.issued)
			}
		}
		want := []string{"empty block", "spend in the same block", "chain of spends in a block", "many inputs", "many outputs",
			"output of value 0", "birth and reuse in a block", "value used again later", "value twice in a transaction",
			"value of a byte", "list of several values", "mint", "mint over several outputs", "burn", "asset moved"}
		if !v.Tokens {
			want = append(want, "mint of more than 64 bits", "asset twice in an output", "entry of amount 0", "entry of amount 0 before others",
				"entry of amount 0 of an asset that exists")
		}
		if v.Repeats {
			want = append(want, "repeated transaction", "repeated transaction that spends", "repeated transaction, the older one unspent", "spend of a repeated transaction")
		}
		if !v.Boxes {
			want = append(want, "output without keys")
		}
		if v.Unordered {
			want = append(want, "spend of a later transaction")
		}
		if v.OutputOffset {
			want = append(want, "outputs that begin late")
		}
		if !v.Implied {
			want = append(want, "mint of an asset that exists")
		}
		for _, what := range want {
			if l.counts[what] < 2 {
				t.Errorf("%s: %d in %d blocks", what, l.counts[what], testBlocks)
			}
		}
		if l.counts["value as long as can be"] == 0 {
			t.Error("no value is as long as can be")
		}
		if t.Failed() || testing.Verbose() {
			t.Log(l.counts)
		}
	})
}

// Some values and asset ids are prefixes of others, which rows of a database must distinguish.
func TestSomeNamesBeginWithOthers(t *testing.T) {
	Each(t, func(t *testing.T, v Variant) {
		g := v.NewGenerator(testseed.Of(t, 1))
		g.Blocks(testBlocks)
		ids := make([][]byte, len(g.assets))
		for i, id := range g.assets {
			ids[i] = []byte(id)
		}
		for what, names := range map[string][][]byte{"address": g.values[addressIndex], "label": g.values[labelIndex], "asset": ids} {
			found := 0
			for i, a := range names {
				for j, b := range names {
					if i != j && bytes.HasPrefix(b, a) {
						found++
					}
				}
			}
			if found < 3 {
				t.Errorf("%s: %d of %d names of %s begin with another", v.Name, found, len(names), what)
			}
		}
	})
}

func TestTheMadeUpChainReadsWhatItWrites(t *testing.T) {
	c := Variants()[0].Chain("two")
	for _, x := range c.Indexes() {
		for _, value := range [][]byte{{0}, {0xff, 0}, bytes.Repeat([]byte{7}, 100)} {
			if again, err := x.Parse(x.Format(value)); err != nil || !bytes.Equal(again, value) {
				t.Errorf("%s: %x is read as %x, %v", x.Name, value, again, err)
			}
		}
		for _, s := range []string{"", "zz", x.Name[:1], x.Name[:1] + "0"} {
			if value, err := x.Parse(s); err == nil {
				t.Errorf("%s: %q is read as %x", x.Name, s, value)
			}
		}
	}
	h := model.Hash{1, 2, 3}
	if again, err := c.ParseHash(c.FormatHash(h)); err != nil || again != h {
		t.Errorf("%s is read as %s, %v", h, again, err)
	}
	if _, err := c.ParseAsset(""); err == nil {
		t.Error("no asset is read as one")
	}
}
