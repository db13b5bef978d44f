package format

import (
	"time"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/internal/humanize"
)

// farBehind is the lag in blocks above which pages show the progress of the sync.
const farBehind = 6

// Syncing is the progress of a sync.
type Syncing struct {
	What           string // done by the source before it has a tip; empty: blocks are indexed
	Height, Target string // blocks, or steps of What, with commas; Target empty: unknown
	Percent        int
	Rate           string // empty: unknown
	Left           string // remaining time; empty: unknown
}

// SyncingOf returns nil if the chain is near its source's tip, or if this process has no sync.
func SyncingOf(s served.State) *Syncing {
	p := s.Sync
	if p == nil || p.Done {
		return nil
	}
	answered := p.Elapsed > 0 // the source did
	if !answered && p.Target <= p.Height && (p.Height == 0 || s.Preparation != nil) {
		return waitingFor(s.Preparation)
	}
	if p.Target <= p.Height+farBehind {
		return nil
	}
	a := &Syncing{
		Height: humanize.Count(uint32(p.Height)), Target: humanize.Count(uint32(p.Target)),
		Percent: int(100 * p.Fraction()), Rate: rate(p),
	}
	if p.Left > 0 {
		a.Left = humanize.Duration(p.Left)
		if p.Left >= time.Minute {
			a.Left = "about " + a.Left
		}
	}
	return a
}

// waitingFor is the progress of a sync whose source has no tip yet.
func waitingFor(p *served.Preparation) *Syncing {
	switch {
	case p == nil:
		return &Syncing{What: "waiting for the source"}
	case p.Total == 0:
		return &Syncing{What: p.What}
	}
	return &Syncing{
		What: p.What, Height: humanize.Count(p.Done), Target: humanize.Count(p.Total), Percent: int(100 * p.Done / p.Total),
	}
}

// rate formats the speed of a sync in transactions, or in blocks if most are empty.
func rate(p *core.Progress) string {
	switch {
	case p.BlocksPerSecond < 1 && p.TxsPerSecond < 1:
		return ""
	case p.TxsPerSecond > p.BlocksPerSecond:
		return humanize.Count(int64(p.TxsPerSecond)) + " transactions/s"
	}
	return humanize.Count(int64(p.BlocksPerSecond)) + " blocks/s"
}

// Failed is the error that stopped a sync.
type Failed struct {
	Why   string
	Since Moment
}

func FailedOf(s served.State, now time.Time) *Failed {
	if s.Failed == "" {
		return nil
	}
	return &Failed{s.Failed, MomentOf(s.Since.Unix(), now)}
}
