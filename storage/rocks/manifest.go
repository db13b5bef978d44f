package rocks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"birthmark/storage"
)

// manifestSizeName is a file with the manifest's name and a lower bound of its size in bytes. A manifest lists the
// tables of a database and only grows. RocksDB does not detect a truncated manifest: it would open the database without
// the tables of the missing records, and delete those tables.
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
		line := fmt.Appendf(nil, "%s %20d\n", m.name, m.size)
		m.written = os.WriteFile(filepath.Join(m.dir, manifestSizeName), line, 0o644) == nil
	}
}

func currentManifest(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "CURRENT"))
	return strings.TrimSuffix(string(b), "\n"), err
}

// checkManifest returns an error if the manifest is shorter than recorded.
func checkManifest(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, manifestSizeName))
	if err != nil {
		return nil // no size was recorded yet
	}
	var name string
	var size int64
	if n, _ := fmt.Sscan(string(b), &name, &size); n != 2 {
		return nil // the process ended while it wrote the file
	}
	if current, err := currentManifest(dir); err != nil || current != name {
		return nil
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err == nil && info.Size() < size {
		return fmt.Errorf("%w: %s has %d bytes, expected at least %d", storage.ErrDamaged, name, info.Size(), size)
	}
	return nil
}
