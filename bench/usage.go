package bench

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
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

// residentBytes returns the resident memory of this process, or 0 if the system does not report it.
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

func threadCPU() time.Duration  { return cpuTime(syscall.RUSAGE_THREAD) }
func processCPU() time.Duration { return cpuTime(syscall.RUSAGE_SELF) }

// cpuTime returns the CPU time of a thread or process in user and kernel mode.
func cpuTime(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
