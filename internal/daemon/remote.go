package daemon

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"birthmark/internal/config"
	"birthmark/model"
	"birthmark/storage"
)

// A StoreOpener opens the store of a URL, such as that of a cluster. With readOnly the store shows the state at the
// time it was opened, and is a [storage.Watched]. Otherwise it creates the database if there is none; purpose names
// this process to others that want to write.
type StoreOpener func(ctx context.Context, url string, readOnly bool, purpose string) (storage.Store, error)

var openers = map[string]StoreOpener{}

// RegisterStore makes the scheme of a URL available as a database. A program calls it before it runs a command.
func RegisterStore(scheme string, open StoreOpener) { openers[scheme] = open }

// remoteOpener returns how to open the database of a URL; nil if db is a folder.
func remoteOpener(db string) (StoreOpener, error) {
	scheme, _, ok := strings.Cut(db, "://")
	if !ok {
		return nil, nil
	}
	if open := openers[scheme]; open != nil {
		return open, nil
	}
	return nil, usageError("bad_setting", "this program has no store for %s databases: build the one in distributed/cmd/birthmark", scheme)
}

// localFolder returns the folder on this machine for the local files of a remote database: its control socket and saved
// positions. That is the database's folder, or a folder in the data folder for the database of a URL.
func localFolder(set *config.Chain) string {
	u, err := url.Parse(set.DB)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return set.DB
	}
	name := strings.Map(func(r rune) rune {
		if r == ':' || r == ',' || r == '/' {
			return '_'
		}
		return r
	}, u.Host+u.Path)
	return filepath.Join(set.DataFolder, "remote", u.Scheme+"_"+name)
}

// remoteTimeout limits the connection to a cluster that only looks for changes.
const remoteTimeout = time.Minute

var watched struct {
	sync.Mutex
	stores map[string]storage.Store // read-only, by URL, open until the process ends
}

// remoteVersion returns the version of the newest state of the database of a URL; 0 if there is none.
func remoteVersion(db string, open StoreOpener) (uint64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), remoteTimeout)
	defer cancel()
	watched.Lock()
	defer watched.Unlock()
	s := watched.stores[db]
	if s == nil {
		var err error
		if s, err = open(ctx, db, true, ""); err != nil {
			return 0, model.Errorf(model.Refused, "cannot_open", "%w", err)
		}
		if watched.stores == nil {
			watched.stores = map[string]storage.Store{}
		}
		watched.stores[db] = s
	}
	return s.(storage.Watched).Newest(ctx)
}
