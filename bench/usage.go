package bench

import (
	"sync"
	"time"

	"birthmark/bench/process"
)

// Usage is the resources that this process used during a measurement.
type Usage struct {
	CPUSeconds float64 `json:"cpu_s"`
	RSS        []int64 `json:"rss"` // bytes: at the beginning, each second, and at the end
}

// Grown returns the growth of memory after the first third of the samples, in bytes, when caches and pools are full. It
// may be negative.
func (u *Usage) Grown() int64 {
	if len(u.RSS) < 3 {
		return 0
	}
	return u.RSS[len(u.RSS)-1] - u.RSS[len(u.RSS)/3]
}

// Watch measures the resources that this process uses until stop is called.
func Watch() (stop func() Usage) {
	u := Usage{RSS: []int64{process.RSS()}}
	cpu, done := process.CPU(), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		each := time.NewTicker(time.Second)
		defer each.Stop()
		for {
			select {
			case <-each.C:
				u.RSS = append(u.RSS, process.RSS())
			case <-done:
				return
			}
		}
	})
	return func() Usage {
		u.CPUSeconds = (process.CPU() - cpu).Seconds()
		close(done)
		watching.Wait()
		u.RSS = append(u.RSS, process.RSS())
		return u
	}
}
