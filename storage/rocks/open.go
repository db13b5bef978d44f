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

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// LockName is the name of the file that is locked while a process has the database open for writing.
const LockName = "birthmark.lock"

// Open opens the database in the folder dir. It creates folder and database if they do not exist, unless
// [Options.ReadOnly] is set: the error then wraps [fs.ErrNotExist]. If another process has the database open for
// writing it returns a [*storage.LockedError].
func Open(dir string, o Options) (*Store, error) {
	exists, err := holdsDatabase(dir)
	if err != nil {
		return nil, err
	}
	if !exists && o.ReadOnly {
		return nil, fmt.Errorf("no database in %s: %w", dir, fs.ErrNotExist)
	}
	s := &Store{
		dir: dir, options: o,
		columns:  map[string]*grocksdb.ColumnFamilyHandle{},
		families: map[storage.Family]*grocksdb.ColumnFamilyHandle{}, smallTables: newSmallTables(),
	}
	if !o.ReadOnly {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("create database folder: %w", err)
		}
		if !o.Locked {
			if s.lock, err = storage.LockFile(filepath.Join(dir, LockName), dir, o.Holder); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(s.clearStaging(), s.removeUnfinishedSideFiles()); err != nil {
			return nil, errors.Join(err, s.lock.Release())
		}
	}
	if s.settings, err = newSettings(dir, o); err == nil {
		lost := ""
		if o.Warn != nil && !o.ReadOnly {
			lost = lostLog(dir)
		}
		if err = s.open(); err == nil {
			s.manifest.dir = dir
			if !o.ReadOnly {
				s.mergeSmallTables()
			}
			if lost != "" {
				o.Warn(lost)
			}
			return s, nil
		}
		s.settings.destroy()
	}
	return nil, errors.Join(err, s.lock.Release())
}

// holdsDatabase reports whether dir contains RocksDB's CURRENT file. It returns an error if dir has other files, since
// no database should be created among them.
func holdsDatabase(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("database folder: %w", err)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".ldb" }) {
		return false, fmt.Errorf("%s contains a LevelDB database of another program: use an empty or new folder", dir)
	}
	others := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "CURRENT":
			return true, nil
		case name == LockName, name == stagingName, name == manifestSizeName,
			name == "LOCK", name == "LOG", name == "IDENTITY", strings.HasPrefix(name, "LOG."),
			strings.HasPrefix(name, "MANIFEST-"), filepath.Ext(name) == ".log", filepath.Ext(name) == ".dbtmp":
			// Left by a process that ended while it created the database.
		default:
			others = name
		}
	}
	if others != "" {
		return false, fmt.Errorf("%s contains other files (%s) and no database: use an empty or new folder", dir, others)
	}
	return false, nil
}

// A read-only open may fail because the writer changes files at the same time, and is retried; more often if it is
// certain that this is the cause.
const (
	openTries        = 20
	openTriesChanged = 400
	openPause        = 25 * time.Millisecond
)

// manifestChanged is a part of an error of readonly_open.cc.
const manifestChanged = "changed while it was read"

func (s *Store) open() (err error) {
	for try := 1; ; try++ {
		if err = checkLogs(s.dir); err != nil {
			break
		}
		if s.options.ReadOnly {
			err = s.tryOpenToRead()
		} else {
			err = s.tryOpen()
		}
		if err == nil || !s.options.ReadOnly {
			break
		}
		if try >= openTries && !strings.Contains(err.Error(), manifestChanged) || try == openTriesChanged {
			break
		}
		time.Sleep(openPause)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("open database %s: %w", s.dir, damage(plain(err), "Corruption: ", "No such file or directory"))
}

const defaultColumn = "default" // required by RocksDB

func (s *Store) tryOpen() error {
	if err := checkManifest(s.dir); err != nil {
		return err
	}
	opts := s.settings.databaseOptions()
	names := []string{defaultColumn}
	if exists, err := holdsDatabase(s.dir); err != nil {
		return err
	} else if exists {
		if names, err = grocksdb.ListColumnFamilies(opts, s.dir); err != nil {
			return err
		}
	}
	each := make([]*grocksdb.Options, len(names))
	for i, name := range names {
		each[i] = s.settings.options[layoutOf(name)]
	}
	var handles []*grocksdb.ColumnFamilyHandle
	var err error
	if s.options.ReadOnly {
		s.db, handles, err = grocksdb.OpenDbForReadOnlyColumnFamilies(opts, s.dir, names, each, false)
	} else {
		s.db, handles, err = grocksdb.OpenDbColumnFamilies(opts, s.dir, names, each)
	}
	if err != nil {
		return err
	}
	for i, h := range handles {
		s.columns[names[i]] = h
	}
	return nil
}

// tryOpenToRead opens the database and fails if a family was created meanwhile: RocksDB needs the names before it reads
// the manifest, and would leave the new family out.
func (s *Store) tryOpenToRead() error {
	s.settings.readonlyOpen.begin()
	err := s.tryOpen()
	s.settings.readonlyOpen.end()
	if err != nil {
		return err
	}
	names, err := grocksdb.ListColumnFamilies(s.settings.databaseOptions(), s.dir)
	for _, name := range names {
		if s.columns[name] == nil {
			err = fmt.Errorf("family %s was created while the database was opened", name)
		}
	}
	if err != nil {
		s.closeDatabase()
	}
	return err
}
