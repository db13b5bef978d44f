package bench

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Usage is what this process took of the machine while something was measured.
type Usage struct {
	CPUSeconds float64 `json:"cpu_s"`
	RSS        []int64 `json:"rss"` // bytes, at the beginning, each second, at the end
}

// Grown is how much more memory there is at the end than after the first third: what is left when caches and pools have
// filled. Less than 0: it shrank.
func (u *Usage) Grown() int64 {
	if len(u.RSS) < 3 {
		return 0
	}
	return u.RSS[len(u.RSS)-1] - u.RSS[len(u.RSS)/3]
}

// Watch begins to measure what this process takes, until stop is called.
func Watch() (stop func() Usage) {
	u := Usage{RSS: []int64{residentBytes()}}
	cpu, done := processCPU(), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		each := time.NewTicker(time.Second)
		defer each.Stop()
		for {
			select {
			case <-each.C:
				u.RSS = append(u.RSS, residentBytes())
			case <-done:
				return
			}
		}
	})
	return func() Usage {
		u.CPUSeconds = (processCPU() - cpu).Seconds()
		close(done)
		watching.Wait()
		u.RSS = append(u.RSS, residentBytes())
		return u
	}
}

// residentBytes is how much memory of this process is not swapped out; 0 where the system does not say.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
