package wallet

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"math/big"
	"slices"

	"birthmark/api/bounded"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Totals per color are not stored. They are counted when they are first requested, and are kept with the block up to
// which they were counted, so that the next request counts the blocks after it. A count that ends with an error, because
// it needs too many rows or too much time, is continued by the next request.

// counted is a sum over the chain up to a block.
type counted[T any] struct {
	at  model.Point
	sum T
}

// keepAfter is the number of transactions after which an unfinished sum is kept. Tests change it.
var keepAfter = 4096

// known returns the sum that a cache keeps for k, and the span after its block; the zero sum and all blocks if it has none
// for the chain of the view.
func known[K comparable, T any](v *View, kept *bounded.Cache[K, counted[T]], k K) (sum T, after setops.Span, err error) {
	after = setops.Span{First: model.UtxoPk(v.q.FirstPk(1)), Last: v.q.LastPk(v.Tip.Height)}
	c, ok := kept.Get(k)
	if !ok {
		return sum, after, nil
	}
	if ok, err = v.Has(c.at); !ok || err != nil {
		return sum, after, err
	}
	after.First = model.UtxoPk(v.q.FirstPk(c.at.Height + 1))
	return c.sum, after, nil
}

// counter keeps an unfinished sum at the end of blocks.
type counter struct {
	v    *View
	txs  int // since the last time
	last model.HeightPk
}

// next is called before each transaction in the order of the chain. If it returns true, the sum up to at should be kept.
func (c *counter) next(tx model.TxPk) (at model.Point, keep bool, err error) {
	ended := c.last
	c.last = tx.Height()
	if c.txs++; c.txs <= keepAfter || c.last == ended {
		return at, false, nil
	}
	c.txs = 0
	row, err := c.v.q.BlockRow(ended)
	return row.Point(ended), true, err
}

// ColoredStats are totals of the outputs of a script with a color.
type ColoredStats struct {
	Color               []byte // nil: without a color
	Txs                 uint64
	Funded, Spent       uint64 // numbers of outputs
	FundedSum, SpentSum model.Uint128
}

// coloredSize is the approximate memory of a ColoredStats in a cache, in bytes.
const coloredSize = 256

func (s *ColoredStats) add(spent bool, amount uint64) {
	if spent {
		s.Spent++
		s.SpentSum, _ = s.SpentSum.Add(model.Uint128Of(amount))
	} else {
		s.Funded++
		s.FundedSum, _ = s.FundedSum.Add(model.Uint128Of(amount))
	}
}

// ColoredStats returns the totals of the confirmed chain and those of the mempool for each color that the script ever had,
// in the order of colors. Outputs without a color come first.
func (s *Script) ColoredStats() (confirmed, mempool []ColoredStats, err error) {
	unconfirmed := map[string]*ColoredStats{}
	for _, t := range s.pool {
		seen := map[string]bool{}
		s.eachPending(t, func(c coloredValue, spent bool) {
			if !s.color.has(c.color) {
				return
			}
			of := unconfirmed[string(c.color)]
			if of == nil {
				of = &ColoredStats{Color: c.color}
				unconfirmed[string(c.color)] = of
			}
			if of.add(spent, c.amount); !seen[string(c.color)] {
				seen[string(c.color)] = true
				of.Txs++
			}
		})
	}
	for _, key := range slices.Sorted(maps.Keys(unconfirmed)) {
		mempool = append(mempool, *unconfirmed[key])
	}
	if err = s.check(); err != nil || s.birth == nil {
		return nil, mempool, err
	}
	sums, err := s.countColors()
	for of, stats := range sums {
		if err == nil && !of.coin {
			stats.Color, err = s.v.colorID(of.color)
		}
		if err != nil {
			return nil, mempool, err
		}
		if s.color.has(stats.Color) {
			confirmed = append(confirmed, stats)
		}
	}
	slices.SortFunc(confirmed, func(a, b ColoredStats) int { return bytes.Compare(a.Color, b.Color) })
	return confirmed, mempool, err
}

// countColors returns the totals of the confirmed chain. The caller must not change them.
func (s *Script) countColors() (map[held]ColoredStats, error) {
	kept := &s.v.chain.colored
	before, span, err := known(s.v, kept, s.key)
	if err != nil || span.Empty() {
		return before, err
	}
	sums := maps.Clone(before)
	if sums == nil {
		sums = map[held]ColoredStats{}
	}
	count := counter{v: s.v}
	rows := s.v.q.StoredHistory(s.v.index, *s.birth, span, false)
	for txs, err := range query.Batches(s.v.q, rows, firstBatch, lastBatch) {
		if err != nil {
			return nil, err
		}
		moves, err := s.movements(txs)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(moves, func(a, b movement) int { return a.tx - b.tx })
		for i := range txs {
			at, keep, err := count.next(txs[i].Tx)
			if err != nil {
				return nil, err
			}
			if keep {
				kept.Put(s.key, counted[map[held]ColoredStats]{at, maps.Clone(sums)})
			}
			seen := map[held]bool{}
			for ; len(moves) > 0 && moves[0].tx == i; moves = moves[1:] {
				m := moves[0]
				stats := sums[m.held]
				if stats.add(m.spent, m.amount); !seen[m.held] {
					seen[m.held] = true
					stats.Txs++
				}
				sums[m.held] = stats
			}
		}
	}
	kept.Put(s.key, counted[map[held]ColoredStats]{s.v.Tip, sums})
	return sums, nil
}

// ColorStats are totals of a color. A transaction issues what its outputs have in excess of its inputs, and burns what
// they lack. It transfers the rest, if that is not 0 or if it issues and burns nothing.
type ColorStats struct {
	Txs, Issued, Transferred, Burned     uint64 // numbers of transactions
	IssuedSum, TransferredSum, BurnedSum model.Uint128
}

// add adds a transaction with outputs of a sum, which issues (positive) or burns an amount.
func (s *ColorStats) add(outputs, supply *big.Int) {
	s.Txs++
	transferred := outputs
	switch supply.Sign() {
	case 1:
		s.Issued++
		addTo(&s.IssuedSum, supply)
		transferred = new(big.Int).Sub(outputs, supply)
	case -1:
		s.Burned++
		addTo(&s.BurnedSum, new(big.Int).Neg(supply))
	}
	if supply.Sign() == 0 || transferred.Sign() > 0 {
		s.Transferred++
		addTo(&s.TransferredSum, transferred)
	}
}

// addTo adds an amount that is not negative.
func addTo(sum *model.Uint128, n *big.Int) {
	hi, lo := new(big.Int).Rsh(n, 64), new(big.Int).And(n, lowWord)
	*sum, _ = sum.Add(model.Uint128{Hi: hi.Uint64(), Lo: lo.Uint64()})
}

var lowWord = new(big.Int).SetUint64(^uint64(0))

// ColorStats returns the totals of the confirmed chain and those of the mempool. A color that no transaction has is no
// error.
func (v *View) ColorStats(id []byte) (confirmed, mempool ColorStats, err error) {
	for t := range v.pendingOf(id) {
		in, out := new(big.Int), new(big.Int)
		inputs := t.Inputs()
		for i := range inputs {
			addColor(in, valueOf(inputs[i].Spends()), id)
		}
		for i := range t.NumOutputs() {
			addColor(out, valueOf(t.Output(i)), id)
		}
		mempool.add(out, new(big.Int).Sub(out, in))
	}
	birth, err := v.colorBirth(id)
	if birth == nil || err != nil {
		return confirmed, mempool, err
	}
	kept := &v.chain.colors
	sum, span, err := known(v, kept, *birth)
	if err != nil || span.Empty() {
		return sum, mempool, err
	}
	count := counter{v: v}
	for use, err := range v.usesOf(*birth, span, false) {
		var at model.Point
		var keep bool
		if err == nil {
			at, keep, err = count.next(use.tx)
		}
		if err != nil {
			return sum, mempool, err
		}
		if keep {
			kept.Put(*birth, counted[ColorStats]{at, sum})
		}
		sum.add(use.outputs, use.supply)
	}
	kept.Put(*birth, counted[ColorStats]{v.Tip, sum})
	return sum, mempool, nil
}

func addColor(sum *big.Int, c coloredValue, id []byte) {
	if bytes.Equal(c.color, id) {
		sum.Add(sum, new(big.Int).SetUint64(c.amount))
	}
}

// pendingOf yields the transactions of the mempool that have a color, in the order of arrival.
func (v *View) pendingOf(id []byte) iter.Seq[*pending.Tx] {
	if v.pool == nil {
		return func(func(*pending.Tx) bool) {}
	}
	return v.pool.Asset(id)
}

// use is a transaction that issues, transfers or burns a color.
type use struct {
	tx      model.TxPk
	outputs *big.Int // the sum of its outputs
	supply  *big.Int // issued; negative: burned
}

// usesOf yields the confirmed transactions that have a color.
func (v *View) usesOf(birth model.AssetBirthPk, span setops.Span, descending bool) iter.Seq2[use, error] {
	return func(yield func(use, error) bool) {
		from, to := span.Keys(birth.AppendTo(nil))
		supplies, stop := iter.Pull2(schema.Rows(v.q.R, schema.FamilyAssetSupply, from, to, descending, schema.ParseSupplyRow))
		defer stop()
		amounts, end := iter.Pull2(v.amountsOf(birth, span, descending))
		defer end()
		supply, err, more := supplies()
		amount, failed, has := amounts()
		for more || has {
			if err := cmp.Or(err, failed); err != nil {
				yield(use{}, err)
				return
			}
			u := use{outputs: new(big.Int), supply: new(big.Int)}
			if u.tx = supply.Tx; !more || has && (amount.tx < u.tx) != descending {
				u.tx = amount.tx
			}
			for has && failed == nil && amount.tx == u.tx {
				u.outputs.Add(u.outputs, amount.outputs)
				amount, failed, has = amounts()
			}
			if failed != nil {
				yield(use{}, failed)
				return
			}
			if more && supply.Tx == u.tx {
				u.supply = supply.Amount
				supply, err, more = supplies()
			}
			if !yield(u, nil) {
				return
			}
		}
	}
}

// amountsOf yields the amounts of the outputs that have a color.
func (v *View) amountsOf(birth model.AssetBirthPk, span setops.Span, descending bool) iter.Seq2[use, error] {
	return func(yield func(use, error) bool) {
		outputs := v.q.AssetOccurrences(birth, span, descending)
		for pks, err := range query.Batches(v.q, outputs, firstBatch, lastBatch) {
			var entries [][]schema.AssetEntry
			if err == nil {
				entries, err = v.q.AssetEntries(pks)
			}
			if err != nil {
				yield(use{}, err)
				return
			}
			for i, pk := range pks {
				sum := new(big.Int)
				for _, e := range entries[i] {
					if e.Birth == birth {
						sum.Add(sum, e.Amount.Big())
					}
				}
				if !yield(use{tx: pk.Tx(), outputs: sum}, nil) {
					return
				}
			}
		}
	}
}
