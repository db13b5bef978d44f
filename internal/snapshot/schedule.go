package snapshot

import (
	"context"
	"time"
)

const (
	schedulePoll  = time.Second      // how often it is checked whether a snapshot is due
	scheduleRetry = 10 * time.Minute // the pause after a failure, unless snapshots are created more often
)

// Schedule creates snapshots at the tip of the source only, and only if blocks were added since the last one.
type Schedule struct {
	Every  time.Duration
	Now    func() time.Time
	Ready  func() bool   // the database has all blocks of its source
	Tip    func() string // hash of the last block; empty: none
	Create func() (tip string, err error)
	Failed func(err error, pause time.Duration)
}

// Run creates snapshots until ctx ends: the first one when it is due, if the tip is not last.
func (s *Schedule) Run(ctx context.Context, due time.Time, last string) {
	for {
		select {
		case <-time.After(schedulePoll):
		case <-ctx.Done():
			return
		}
		now := s.Now()
		if now.Before(due) || !s.Ready() {
			continue
		}
		if at := s.Tip(); at == "" || at == last {
			due = now.Add(s.Every)
			continue
		}
		at, err := s.Create()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			pause := min(scheduleRetry, s.Every)
			s.Failed(err, pause)
			due = s.Now().Add(pause)
			continue
		}
		due, last = now.Add(s.Every), at
	}
}
