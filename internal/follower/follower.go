package follower

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"birthmark/model"
	"birthmark/storage"
)

// Folder is the folder with the followers of a database.
type Folder string

// Of returns the folder for the database in dir. It need not exist.
func Of(dir string) Folder { return Folder(filepath.Join(dir, "cursors")) }

// Position is the position of a follower.
type Position struct {
	Chain   string  `json:"chain"`
	Network string  `json:"network"`
	Updated int64   `json:"updated"` // unix seconds
	Blocks  []Block `json:"blocks"`  // newest first, the first is the position; none: nothing was followed yet
}

// Block is a block with its hash as text.
type Block struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
}

const (
	suffix     = ".json"
	lockSuffix = ".lock"

	mostName = 64
)

// CheckName returns an error of kind Usage, code bad_value, for names that are not valid file names or are ambiguous.
func CheckName(name string) error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	if name == "" || len(name) > mostName || name[0] == '-' || strings.ContainsFunc(name, odd) {
		return model.Errorf(model.Usage, "bad_value", "invalid follower name %q: expected at most %d letters, digits, - and _", name, mostName)
	}
	return nil
}

// Damaged returns the error of an unreadable follower: Refused (damaged_follower).
func Damaged(name string, why error) error {
	return model.Errorf(model.Refused, "damaged_follower", "follower %s is damaged (%w): delete or set it", name, why)
}

// Read returns the follower of a name. NotFound (unknown_follower) if it does not exist.
func (f Folder) Read(name string) (*Position, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(f.path(name, suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, model.Errorf(model.NotFound, "unknown_follower", "unknown follower %q (run birthmark follower list)", name)
	}
	if err != nil {
		return nil, err
	}
	c := &Position{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, Damaged(name, err)
	}
	return c, nil
}

// List returns the names of all followers, sorted.
func (f Folder) List() ([]string, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// Held is a follower that this process has locked.
type Held struct {
	folder Folder
	name   string
	lock   *storage.FileLock
}

// Hold locks a follower and creates the folder if needed; holder describes this process. The error is a
// [*storage.LockedError] if another process holds the follower.
func (f Folder) Hold(name, holder string) (*Held, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return nil, fmt.Errorf("create follower: %w", err)
	}
	lock, err := storage.LockFile(f.path(name, lockSuffix), "follower "+name, holder)
	if err != nil {
		return nil, err
	}
	return &Held{f, name, lock}, nil
}

// Release unlocks the follower.
func (h *Held) Release() error { return h.lock.Release() }

// Write saves the position durably. If it fails, the previous position is kept.
func (h *Held) Write(c *Position) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	err = storage.ReplaceFile(h.folder.path(h.name, suffix), 0o644, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("write follower %s: %w", h.name, err)
	}
	return nil
}

// Remove deletes the follower. NotFound (unknown_follower) if it does not exist.
func (h *Held) Remove() error {
	err := os.Remove(h.folder.path(h.name, suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return model.Errorf(model.NotFound, "unknown_follower", "unknown follower %q (run birthmark follower list)", h.name)
	}
	if err != nil {
		return err
	}
	return storage.SyncFolder(string(h.folder))
}

func (f Folder) path(name, suffix string) string { return filepath.Join(string(f), name+suffix) }
