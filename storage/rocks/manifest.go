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

// manifestSizeName is a file of one line, the manifest's name and a size that it has on disk at least. A manifest names the
// tables of a database and only grows. RocksDB cannot tell one that was cut from one that ended there: it would open the
// database without the tables of the last records, and delete them.
const manifestSizeName = "manifest.size"

// manifestSettles is how long a manifest has to keep its size before that size is written down. RocksDB syncs a record
// right after it appended it, so a power cut cannot leave less than that.
const manifestStable = 2 * time.Second

// manifest follows the size of a writer's manifest.
type manifest struct {
	dir     string
	name    string
	size    int64
	since   time.Time // when it was first seen to have this size
	written bool
}

// look notices the manifest's size now, and writes it down if it is old enough, or if settled. Failures change nothing
// but what a later open can find out.
func (m *manifest) observe(now time.Time, settled bool) {
	info, err := os.Stat(filepath.Join(m.dir, m.name))
	if m.name == "" || errors.Is(err, fs.ErrNotExist) { // RocksDB begins a new one when it is too large
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
	if !m.written && (settled || now.Sub(m.since) >= manifestStable) {
		m.written = os.WriteFile(filepath.Join(m.dir, manifestSizeName), fmt.Appendf(nil, "%s %20d\n", m.name, m.size), 0o644) == nil
	}
}

// currentManifest returns the name of the manifest that RocksDB reads.
func currentManifest(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "CURRENT"))
	return strings.TrimSuffix(string(b), "\n"), err
}

// checkManifest returns an error if the manifest is shorter than it was.
func checkManifest(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, manifestSizeName))
	if err != nil {
		return nil // made by an earlier version, or by a process that was killed at once
	}
	var name string
	var size int64
	if n, _ := fmt.Sscan(string(b), &name, &size); n != 2 {
		return nil // it was being written
	}
	if current, err := currentManifest(dir); err != nil || current != name {
		return nil
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err == nil && info.Size() < size {
		return fmt.Errorf("%w: %s has %d bytes, it had %d", storage.ErrDamaged, name, info.Size(), size)
	}
	return nil
}
