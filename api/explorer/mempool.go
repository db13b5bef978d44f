package explorer

import (
	"html/template"
	"math/big"
	"strconv"
	"strings"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

const mempoolTxs = 25 // of the newest, in the table

// mempoolBody is the unconfirmed transactions of a chain.
type mempoolBody struct {
	State   string // live, filling, old, partial or none
	Stats   []stat
	Blocks  []projectedBlock
	Rest    string        // the transactions after them; empty: none
	Map     template.HTML // the next block; empty on chains without projected blocks
	Chart   template.HTML // size by fee rate; empty: no transaction has a fee rate
	Ages    template.HTML // by age; empty: no transactions
	Txs     []newTx
	Pending bool // Txs are unconfirmed
	Sized   bool // Txs have sizes
}

// mempool shows the unconfirmed transactions as a whole, and the newest.
func (v *visit) mempool() (*page, error) {
	pool, err := v.chain.Unconfirmed()
	if err != nil {
		return nil, err
	}
	o := v.overlay
	b := &mempoolBody{State: o.State().String(), Pending: true, Sized: true, Txs: v.newestPending(o, mempoolTxs)}
	template := pool.Template()
	b.Stats = append([]stat{v.pendingStat(o.Info()), {Name: "Fees of all", Amount: v.Amount(strconv.FormatUint(o.Info().Fees, 10))}},
		v.feeLevels(template)...)
	if b.Blocks, err = v.projected(template); err != nil {
		return nil, err
	}
	if rest := template.Rest; rest.Count > 0 && len(template.Blocks) > 0 {
		b.Rest = humanize.Plural(rest.Count, "transaction") + ", " + v.virtualSize(rest.VSize)
	}
	if b.Map, err = v.nextMap(template); err != nil {
		return nil, err
	}
	if b.Chart, err = v.ratesChart(pool.Rates()); err != nil {
		return nil, err
	}
	ages := pool.Ages()
	if len(ages.Bins) > 0 {
		b.Stats = append(b.Stats, stat{Name: "Waiting longest", Value: humanize.Duration(ages.Oldest)})
	}
	if b.Ages, err = agesChart(ages.Bins); err != nil {
		return nil, err
	}
	return &page{Kind: "mempool", Title: "Mempool", JSON: v.api("mempool"), Section: "mempool", Body: b, Volatile: true, Follow: pendingEvents,
		Description: "Unconfirmed transactions of " + titleOf(v.chain.Model) + ": next blocks, fee rates, newest transactions.",
		Crumbs:      []link{{Text: "Mempool"}}}, nil
}

// CanSubmit reports whether the chain has a node that accepts transactions.
func (v *visit) CanSubmit() bool { return v.chain.Submitter != nil }

// pendingEvents is the query of the events that concern a page about all unconfirmed transactions.
const pendingEvents = "?mempool=include"

// pendingStat is the number of unconfirmed transactions.
func (v *visit) pendingStat(i pending.Info) stat {
	s := stat{Name: "Unconfirmed transactions", Value: humanize.Count(i.Count), Note: v.virtualSize(i.VSize)}
	switch i.State {
	case pending.Filling:
		s.Note = "loading from the node"
		if i.Wanted > 0 {
			s.Note += ": " + humanize.Count(i.Wanted) + " there"
		}
	case pending.None, pending.Old:
		s.Note = "the node does not answer"
	case pending.Partial:
		s.Note += ", without the lowest fee rates"
	}
	return s
}

// virtualSize formats virtual bytes, or bytes of chains without weight: 812 vB, 1.25 MvB.
func (v *visit) virtualSize(n uint64) string {
	text := charts.Short(float64(n))
	digits := strings.TrimRight(text, "kMGT")
	return digits + " " + text[len(digits):] + v.byteUnit()
}

func (v *visit) byteUnit() string {
	if v.chain.Model.Traits().BlockVSize > 0 {
		return "vB"
	}
	return "B"
}

func (v *visit) rateUnit() string {
	if v.unit.Smallest == "" {
		return "per " + v.byteUnit()
	}
	return v.unit.Smallest + "/" + v.byteUnit()
}

// rateOf formats a fee rate.
func (v *visit) rateOf(rate float64) string {
	return charts.Short(rate) + " " + v.rateUnit()
}

// newestPending returns the newest unconfirmed transactions.
func (v *visit) newestPending(o *pending.Overlay, most int) (list []newTx) {
	for t := range o.Newest() {
		if len(list) == most {
			break
		}
		total, n := new(big.Int), new(big.Int)
		for i := range t.NumOutputs() {
			total.Add(total, n.SetUint64(t.Output(i).Value))
		}
		row := newTx{Hash: v.TxLink(v.chain.Model.FormatHash(t.ID)), At: v.Moment(t.Seen().Unix()), Value: v.Amount(total.String())}
		if t.FeeKnown {
			row.Rate = v.rateOf(t.Rate())
		}
		row.Size = humanize.Count(t.VSize) + " " + v.byteUnit()
		list = append(list, row)
	}
	return list
}

// ratesChart draws the size of the transactions by fee rate.
func (v *visit) ratesChart(bins []pending.Bin) (template.HTML, error) {
	if len(bins) == 0 || len(bins) == 1 && bins[0].Rate == 0 {
		return "", nil
	}
	unit := v.rateUnit()
	label := func(i float64) string { return charts.Short(bins[min(max(0, int(i)), len(bins)-1)].Rate) }
	c := charts.Chart{ID: "rates-chart", Title: "Size by fee rate, " + unit, Kind: charts.Bars,
		X: charts.Axis{Name: "Fee rate from " + unit, Whole: true, Label: label}, Y: charts.Axis{Name: "Size, " + v.byteUnit()}}
	for i, b := range bins {
		c.Points = append(c.Points, charts.Point{X: float64(i), Y: float64(b.VSize),
			Value: v.virtualSize(b.VSize) + " in " + humanize.Plural(b.Count, "transaction")})
	}
	return c.HTML()
}

// nextMap draws the transactions of the next projected block by size and fee rate.
func (v *visit) nextMap(t *pending.Template) (template.HTML, error) {
	if len(t.Blocks) == 0 {
		return "", nil
	}
	groups := make([]charts.Group, len(tiers)+1)
	txs := t.Txs(0)
	for i, tx := range txs {
		_, rate, _ := t.Place(tx)
		tier := tierOf(rate)
		groups[tier].Cells = append(groups[tier].Cells, charts.Cell{Size: float64(tx.VSize), At: i})
	}
	return v.rateMap("Next block by fee rate", groups, func(at []int) ([]charts.Description, error) {
		list := make([]charts.Description, len(at))
		for i, n := range at {
			_, rate, _ := t.Place(txs[n])
			list[i] = charts.Description{Text: v.virtualSize(uint64(txs[n].VSize)) + ", " + v.rateOf(rate),
				Link: v.TxLink(v.chain.Model.FormatHash(txs[n].ID)).URL}
		}
		return list, nil
	})
}

// agesChart draws the transactions by age.
func agesChart(bins []pending.AgeBin) (template.HTML, error) {
	if len(bins) == 0 {
		return "", nil
	}
	label := func(i float64) string {
		at := min(max(0, int(i)), len(bins)-1)
		if bins[at].Below == 0 {
			return "longer"
		}
		return "below " + shortTime(bins[at].Below)
	}
	c := charts.Chart{ID: "ages-chart", Title: "Transactions by the time that they wait", Kind: charts.Bars,
		X: charts.Axis{Name: "Time", Whole: true, Label: label}, Y: charts.Axis{Name: "Transactions", Whole: true}}
	for i, b := range bins {
		c.Points = append(c.Points, charts.Point{X: float64(i), Y: float64(b.Count), Value: humanize.Plural(b.Count, "transaction")})
	}
	return c.HTML()
}

// shortTime formats whole seconds, minutes or hours: 30 s, 5 min, 12 h.
func shortTime(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	}
	return strconv.Itoa(int(d.Hours())) + " h"
}

// pendingQuery is the addition to the events of a value for its unconfirmed transactions.
func (v *visit) pendingQuery() string {
	if v.chain.Mempool == nil {
		return ""
	}
	return "&mempool=include"
}

// pendingRow is an unconfirmed transaction in the history of a value.
type pendingRow struct {
	query.PendingHistoryTxAnswer
	Change amount // with its sign
}
