package explorer

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"sync"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// homeStats returns the figures of a chain. blocks are the newest, sorted by height, highest first.
func (v *visit) homeStats(blocks []query.BlockSummaryAnswer) ([]stat, error) {
	status, err := v.Status(v.ctx)
	if err != nil {
		return nil, err
	}
	t := status.Totals
	if len(blocks) == 0 {
		return []stat{{Name: "Height", Value: "none yet"}, {Name: "Supply", Amount: v.Amount(t.UnspentValue).Coarse(), Note: "in unspent outputs"}}, nil
	}
	interval, rate := pace(blocks)
	of := "average of " + humanize.Count(len(blocks)) + " blocks"
	list := []stat{{Name: "Height", Value: humanize.Count(status.Tip.Height), URL: v.BlockLink(status.Tip.Hash).URL}}
	if interval > 0 {
		list = append(list, stat{Name: "Block interval", Value: format.Seconds(interval), Note: of})
	}
	txs := stat{Name: "Transactions", Value: humanize.Count(t.Txs)}
	if rate > 0 {
		txs.Note = charts.Short(rate) + " per second"
	}
	list = append(list, txs)
	if pool := v.chain.Mempool; pool != nil {
		info := pool.Standing().Info()
		unconfirmed := v.pendingStat(info)
		unconfirmed.URL = v.URL("mempool")
		list = append(list, unconfirmed)
		list = append(list, v.feeLevels(pool.Template())...)
	}
	fees, err := v.feeStat(blocks[0].Hash)
	if err != nil {
		return nil, err
	}
	list = append(list, fees...)
	period, err := v.periodStats()
	if err != nil {
		return nil, err
	}
	list = append(list, period...)
	list = append(list,
		stat{Name: "Supply", Amount: v.Amount(t.UnspentValue).Coarse(), Note: "in unspent outputs"},
		stat{Name: "Outputs", Value: humanize.Count(t.Outputs), Note: humanize.Count(t.Unspent) + " unspent"})
	if t.Assets > 0 {
		assets, err := v.Assets(v.ctx, query.Page{Limit: 1})
		if err != nil {
			return nil, err
		}
		list = append(list, stat{Name: "Assets", Value: humanize.Count(assets.Count), URL: v.URL("assets")})
	}
	return list, nil
}

// pace returns the average time between blocks and the transactions per second of blocks, which are sorted by height,
// highest first. The results are 0 if the times do not determine them.
func pace(blocks []query.BlockSummaryAnswer) (interval time.Duration, rate float64) {
	n := len(blocks) - 1
	if n < 1 {
		return 0, 0
	}
	elapsed := blocks[0].Time - blocks[n].Time
	if elapsed <= 0 {
		return 0, 0
	}
	txs := 0
	for _, b := range blocks[:n] {
		txs += b.TxCount
	}
	return time.Duration(elapsed) * time.Second / time.Duration(n), float64(txs) / float64(elapsed)
}

// newestFees are the fees of the newest block of a chain. They need its spent outputs, so pages share them.
type newestFees struct {
	mu     sync.Mutex
	hash   string
	totals *query.BlockTotalsAnswer
}

// feeStat returns the fees of a block, and their average per transaction; nothing if they are unknown or take too long.
func (v *visit) feeStat(hash string) ([]stat, error) {
	memo := v.site.fees[v.chain]
	memo.mu.Lock()
	defer memo.mu.Unlock()
	if memo.hash != hash {
		late, err := v.patiently(func(ctx context.Context) error {
			totals, err := v.BlockTotals(ctx, hash)
			if err == nil {
				memo.hash, memo.totals = hash, totals
			}
			return err
		})
		if late || err != nil {
			return nil, err
		}
	}
	t := memo.totals
	if t.Fees == "" {
		return nil, nil
	}
	s := stat{Name: "Fees in the newest block", Amount: v.Amount(t.Fees)}
	paying := int64(t.TxCount)
	if v.chain.Model.Traits().Coinbase {
		paying--
	}
	if fees := format.Integer(t.Fees); paying > 0 && fees.Sign() > 0 {
		s.Note = v.brief(fees.Div(fees, big.NewInt(paying))) + " per transaction"
	}
	return []stat{s}, nil
}

// periodStats returns the difficulty of the newest block, and its difficulty period or epoch.
func (v *visit) periodStats() (list []stat, err error) {
	tip, err := v.header(v.Tip.Height)
	if err != nil {
		return nil, err
	}
	if d, ok := v.chain.Model.(model.DifficultyReporter); ok {
		n, err := d.Difficulty(tip.Header)
		if err != nil {
			return nil, err
		}
		s := stat{Name: "Difficulty", Value: difficulty(n)}
		if hashes, unit := d.Hashes(); unit != "" && v.Tip.Height > ratedBlocks {
			first, err := v.header(v.Tip.Height - ratedBlocks)
			if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
				return nil, err
			}
			if seconds := tip.Time - first.Time; err == nil && seconds > 0 && n > 0 {
				s.Note = "about " + hashRate(n*hashes*ratedBlocks/float64(seconds), unit)
			}
		}
		list = append(list, s)
	}
	r, ok := v.chain.Model.(model.PeriodReporter)
	if !ok {
		return list, nil
	}
	p, ok, err := r.Period(v.Tip.Height, tip.Header)
	if !ok || err != nil {
		return list, err
	}
	percent := int(100 * p.Done / p.Length)
	left := p.Length - p.Done
	end := "in " + humanize.Plural(left, p.Unit)
	if d := time.Duration(float64(left) * p.Seconds * float64(time.Second)); d >= time.Minute {
		end += ", about " + humanize.Duration(d)
	}
	s := stat{Name: format.Capital(p.Name), Value: humanize.Count(p.Number), Note: "ends " + end, Part: &percent}
	if p.Proportional {
		s.Name, s.Value, s.Note = "Next difficulty", "unknown", end
		if change, ok, err := v.nextDifficulty(&p, tip.Time); err != nil {
			return nil, err
		} else if ok {
			s.Value = "about " + change
		}
	}
	return append(list, s), nil
}

// fewBlocks is the maximum number of blocks of a period without a forecast.
const fewBlocks = 20

// difficulty formats a difficulty, without an exponent except for those of test networks.
func difficulty(n float64) string {
	switch {
	case n >= 1e-6 && n < 1:
		return humanize.Decimal(n)
	case n >= 1e15:
		return humanize.Count(uint64(n/1e12)) + "T"
	}
	return charts.Short(n)
}

// nextDifficulty returns the change of the difficulty at the end of a period in percent, if its blocks go on as they
// did up to now.
func (v *visit) nextDifficulty(p *model.Period, now int64) (change string, ok bool, err error) {
	if p.Done <= fewBlocks {
		return "", false, nil
	}
	first, err := v.header(v.Tip.Height - model.HeightPk(p.Done-1))
	if err != nil || now <= first.Time {
		return "", false, err
	}
	ratio := float64(p.Done-1) * p.Seconds / float64(now-first.Time)
	percent := 100 * (max(0.25, min(4, ratio)) - 1)
	if math.Abs(percent) < 0.05 {
		return "unchanged", true, nil
	}
	return fmt.Sprintf("%+.1f%%", percent), true, nil
}

// header returns the row of a block.
func (v *visit) header(height model.HeightPk) (row schema.BlockRow, err error) {
	err = v.From(v.ctx, func(q *query.Query) error {
		row, err = schema.BlockAt(q.R, height)
		return err
	})
	return row, err
}
