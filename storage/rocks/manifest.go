package rocks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"birthmark/storage"
)

// manifestSizeName is a file with the manifest's name and a lower bound of its size in bytes, and the same of the newest
// log, "-" for none. A manifest lists the tables of a database and only grows. RocksDB does not detect a truncated manifest:
// it would open the database without the tables of the missing records, and delete those tables. Nor does it detect that
// the newest log is missing.
const manifestSizeName = "manifest.size"

// manifestStable is how long a manifest must keep its size before the size is recorded. RocksDB syncs each record right
// after it appends it, so a power failure cannot leave less.
const manifestStable = 2 * time.Second

// manifest tracks the size of the manifest of a database that is open for writing.
type manifest struct {
	dir     string
	name    string
	size    int64
	since   time.Time // when this size was first observed
	written bool
}

// observe reads the manifest's size and records it if it is stable, or if final is set. Failures are ignored: they only
// weaken the check of a later open.
func (m *manifest) observe(now time.Time, final bool) {
	info, err := os.Stat(filepath.Join(m.dir, m.name))
	if m.name == "" || errors.Is(err, fs.ErrNotExist) { // RocksDB starts a new manifest when one is too large
		if m.name, err = currentManifest(m.dir); err != nil {
			return
		}
		info, err = os.Stat(filepath.Join(m.dir, m.name))
	}
	if err != nil {
		return
	}
	if info.Size() != m.size {
		m.size, m.since, m.written = info.Size(), now, false
	}
	if !m.written && (final || now.Sub(m.since) >= manifestStable) {
		log, logSize := newestLog(m.dir)
		line := fmt.Appendf(nil, "%s %20d %s %20d\n", m.name, m.size, log, logSize)
		m.written = os.WriteFile(filepath.Join(m.dir, manifestSizeName), line, 0o644) == nil
	}
}

func currentManifest(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "CURRENT"))
	return strings.TrimSuffix(string(b), "\n"), err
}

// recorded is the content of the file manifestSizeName.
type recorded struct {
	manifest string
	size     int64
	log      string
	logSize  int64
}

// readRecorded returns the record of the current manifest; ok is false if no record exists.
func readRecorded(dir string) (r recorded, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, manifestSizeName))
	if err != nil {
		return r, false
	}
	// Earlier releases recorded no log. A process that ended while it wrote the file left less.
	if n, _ := fmt.Sscan(string(b), &r.manifest, &r.size, &r.log, &r.logSize); n < 2 {
		return r, false
	}
	current, err := currentManifest(dir)
	return r, err == nil && current == r.manifest
}

// checkManifest returns an error if the manifest is shorter than recorded.
func checkManifest(dir string) error {
	r, ok := readRecorded(dir)
	if !ok {
		return nil
	}
	info, err := os.Stat(filepath.Join(dir, r.manifest))
	if err == nil && info.Size() < r.size {
		return fmt.Errorf("%w: %s has %d bytes, expected at least %d", storage.ErrDamaged, r.manifest, info.Size(), r.size)
	}
	return nil
}

// newestLog returns the name and the size of the log with the last updates; "-" if no log has any.
func newestLog(dir string) (name string, size int64) {
	logs, err := logsOf(dir)
	if err != nil {
		return "-", 0
	}
	for _, l := range slices.Backward(logs) {
		if info, err := os.Stat(l.path); err == nil && info.Size() > 0 {
			return filepath.Base(l.path), info.Size()
		}
	}
	return "-", 0
}

// lostLog returns a warning if the newest log is missing or shorter than recorded, although the manifest is the same, so
// that no table has its updates; empty if it is not. The next manifest ends the warning.
func lostLog(dir string) string {
	r, ok := readRecorded(dir)
	if !ok || r.logSize == 0 {
		return ""
	}
	if info, err := os.Stat(filepath.Join(dir, r.manifest)); err != nil || info.Size() != r.size {
		return ""
	}
	info, err := os.Stat(filepath.Join(dir, r.log))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the log %s is missing: the newest blocks are lost, and indexed again", r.log)
	case err == nil && info.Size() < r.logSize:
		return fmt.Sprintf("the log %s has %d bytes, expected at least %d: the newest blocks are lost, and indexed again",
			r.log, info.Size(), r.logSize)
	}
	return ""
}
