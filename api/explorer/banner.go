package explorer

import (
	"time"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/internal/humanize"
)

// farBehind is how many blocks a chain may be behind its source before pages say so.
const farBehind = 6

// syncing is how far a sync that is not at its source's tip has come.
type syncing struct {
	Height, Target string // blocks, with commas
	Percent        int
	Rate           string // empty: unknown
	Left           string // how long it still takes; empty: unknown
}

// syncingOf is nil where the chain is near its source's tip, or this process does not know.
func syncingOf(s served.State) *syncing {
	p := s.Sync
	if p == nil || p.Done || p.Target <= p.Height+farBehind {
		return nil
	}
	a := &syncing{
		Height: humanize.Count(uint32(p.Height)), Target: humanize.Count(uint32(p.Target)),
		Percent: int(uint64(p.Height) * 100 / uint64(p.Target)), Rate: rate(p),
	}
	if p.Left > 0 {
		a.Left = humanize.Duration(p.Left)
		if p.Left >= time.Minute {
			a.Left = "about " + a.Left
		}
	}
	return a
}

// rate is how fast a sync is, in what says most: transactions, or blocks where they are mostly empty.
func rate(p *core.Progress) string {
	switch {
	case p.BlocksPerSecond < 1 && p.TxsPerSecond < 1:
		return ""
	case p.TxsPerSecond > p.BlocksPerSecond:
		return humanize.Count(int64(p.TxsPerSecond)) + " transactions/s"
	}
	return humanize.Count(int64(p.BlocksPerSecond)) + " blocks/s"
}

// failed is why a sync stands still.
type failed struct {
	Why   string
	Since moment
}

func failedOf(s served.State, now time.Time) *failed {
	if s.Failed == "" {
		return nil
	}
	return &failed{s.Failed, momentOf(s.Since.Unix(), now)}
}
