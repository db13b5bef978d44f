// Package process measures the resources of this process. Figures are 0 if the system does not report them.
package process

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ThreadCPU returns the CPU time of the calling thread, in user and kernel mode; on other systems than Linux, that of the
// process.
func ThreadCPU() time.Duration {
	if runtime.GOOS == "linux" {
		return cpuTime(1) // RUSAGE_THREAD
	}
	return CPU()
}

// CPU returns the CPU time of the process, in user and kernel mode.
func CPU() time.Duration { return cpuTime(syscall.RUSAGE_SELF) }

// cpuTime returns the CPU time of a thread or process.
func cpuTime(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// RSS returns the resident memory in bytes.
func RSS() int64 {
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

// PeakRSS returns the peak of the resident memory in bytes, or Go's memory if the system does not report it.
func PeakRSS() int64 {
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
			if fields := strings.Fields(after); len(fields) > 0 {
				if kB, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
					return kB << 10
				}
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// IO is what the kernel has counted for a process or a thread.
type IO struct {
	Read, Written int64 // bytes from and to disk; written when they are in the page cache
	ReadCalls     int64 // system calls
}

// DiskIO returns that of the process.
func DiskIO() IO { return readIO("/proc/self/io") }

// ThreadIO returns that of the calling thread.
func ThreadIO() IO { return readIO("/proc/thread-self/io") }

func readIO(path string) (d IO) {
	text, err := os.ReadFile(path)
	if err != nil {
		return d
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "read_bytes":
			d.Read = n
		case "write_bytes":
			d.Written = n
		case "syscr":
			d.ReadCalls = n
		}
	}
	return d
}

// Minus returns the difference to an earlier count.
func (d IO) Minus(e IO) IO {
	return IO{d.Read - e.Read, d.Written - e.Written, d.ReadCalls - e.ReadCalls}
}
