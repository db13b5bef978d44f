package explorer

import (
	"strconv"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/core/pending"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// projectedBlock is a block as it would be mined now.
type projectedBlock struct {
	Name   string
	Wait   string // until it is mined; empty: unknown
	Rate   string // median
	Rates  string // lowest and highest
	Txs    string
	Fees   amount
	VSize  string
	Filled int // percent
	Tier   int // of the median rate, from 0
}

// relative is an unconfirmed ancestor or descendant of a transaction.
type relative struct {
	Hash  link
	Rate  string
	VSize string
	Place string
}

const mostRelatives = 25

// tiers are the lowest fee rates of the colors of projected blocks, per virtual byte in the smallest unit.
var tiers = []float64{2, 4, 8, 16, 32, 64, 128}

func tierOf(rate float64) (tier int) {
	for tier < len(tiers) && rate >= tiers[tier] {
		tier++
	}
	return tier
}

// feeLevels are the fee rates with which a transaction is in one of the next blocks.
func (v *visit) feeLevels(t *pending.Template) []stat {
	if len(t.Blocks) == 0 {
		return nil
	}
	within := func(n int) string { // blocks
		if n >= len(t.Blocks) && t.Rest.Count == 0 {
			return "minimum" // all transactions fit
		}
		lowest := t.Blocks[0].Lowest
		for _, b := range t.Blocks[:min(n, len(t.Blocks))] {
			lowest = min(lowest, b.Lowest)
		}
		return v.rateOf(lowest)
	}
	return []stat{{Name: "Fee rate for the next block", Value: within(1),
		Note: "within 3 blocks: " + within(3) + "; within 6: " + within(6)}}
}

// projected formats the blocks of a template.
func (v *visit) projected(t *pending.Template) (list []projectedBlock, err error) {
	interval, err := v.blockInterval()
	if err != nil {
		return nil, err
	}
	size := v.chain.Mempool.Traits.BlockVSize
	for i, b := range t.Blocks {
		p := projectedBlock{Name: "Next block", Rate: v.rateOf(b.Median), Txs: humanize.Plural(b.Count, "transaction"),
			Rates: charts.Short(b.Lowest) + " to " + v.rateOf(b.Highest), VSize: v.virtualSize(b.VSize),
			Fees: v.Amount(strconv.FormatUint(b.Fees, 10)), Filled: int(100 * b.VSize / uint64(max(1, size))), Tier: tierOf(b.Median)}
		if i > 0 {
			p.Name = "Block " + strconv.Itoa(i+1)
		}
		p.Wait = waitOf(i, interval)
		list = append(list, p)
	}
	return list, nil
}

// waitOf returns the expected time until the projected block i.
func waitOf(i int, interval time.Duration) string {
	if interval <= 0 {
		return ""
	}
	return "in about " + humanize.Duration(time.Duration(i+1)*interval)
}

// blockInterval returns the intended time between blocks; 0: unknown.
func (v *visit) blockInterval() (time.Duration, error) {
	r, ok := v.chain.Model.(model.PeriodReporter)
	if !ok || v.Tip.IsOrigin() {
		return 0, nil
	}
	tip, err := v.header(v.Tip.Height)
	if err != nil {
		return 0, err
	}
	p, ok, err := r.Period(v.Tip.Height, tip.Header)
	if !ok || err != nil || p.Unit != "block" {
		return 0, err
	}
	return time.Duration(p.Seconds * float64(time.Second)), nil
}

// place returns the projected block of a transaction in words; empty on chains without projected blocks.
func (v *visit) place(t *pending.Template, tx *pending.Tx) string {
	n := len(t.Blocks)
	block, rate, ok := t.Place(tx)
	switch {
	case n == 0:
		return ""
	case !ok:
		return "after block " + strconv.Itoa(n)
	}
	text := "next block"
	if block > 0 {
		text = "block " + strconv.Itoa(block+1)
	}
	if n > 1 {
		text += " of " + strconv.Itoa(n)
	}
	if rate != tx.Rate() {
		text += ", with others at " + v.rateOf(rate)
	}
	return text
}

// relatives lists the first transactions of a walk.
func (v *visit) relatives(t *pending.Template, walk func(func(*pending.Tx) bool)) (list []relative, more bool) {
	walk(func(tx *pending.Tx) bool {
		if len(list) == mostRelatives {
			more = true
			return false
		}
		r := relative{Hash: v.TxLink(v.chain.Model.FormatHash(tx.ID)), VSize: v.virtualSize(uint64(tx.VSize)), Place: v.place(t, tx)}
		if tx.FeeKnown {
			r.Rate = v.rateOf(tx.Rate())
		}
		list = append(list, r)
		return true
	})
	return list, more
}
