package process

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFiguresOfThisProcess(t *testing.T) {
	if CPU() <= 0 || RSS() <= 0 || PeakRSS() < RSS()/2 {
		t.Errorf("CPU %v, memory %d, at most %d", CPU(), RSS(), PeakRSS())
	}
	before := DiskIO()
	if _, err := os.ReadFile("/proc/self/status"); err != nil {
		t.Skip(err)
	}
	if DiskIO().Minus(before).ReadCalls <= 0 {
		t.Error("reads are not counted")
	}
}

func TestReadIO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "io")
	const text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := readIO(path); got != (IO{Read: 5, Written: 6, ReadCalls: 3}) {
		t.Errorf("%+v", got)
	}
	if got := readIO(path + "x"); got != (IO{}) {
		t.Errorf("without a file: %+v", got)
	}
}
