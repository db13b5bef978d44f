package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"birthmark/api/served"
	"birthmark/api/tables"
	"birthmark/core/export"
	"birthmark/internal/config"
	"birthmark/internal/guard"
	"birthmark/internal/snapshot"
	"birthmark/internal/snapshot/target"
)

// OpenTables returns the folder of an export: of this machine, which is locked until release is called, or in a bucket.
func (h *Host) OpenTables(set *config.Chain, url string) (folder export.Folder, release func() error, err error) {
	path := strings.TrimPrefix(url, "file://")
	if !strings.Contains(path, "://") {
		local := export.LocalFolder(path)
		lock, err := local.Lock(h.holder())
		if err != nil {
			return nil, nil, err
		}
		return local, lock.Release, nil
	}
	to, err := storageAt(set, url, true)
	return bucket{to}, func() error { return nil }, err
}

// bucket is an export in remote storage. A file is written to the folder of temporary files first, because its hash must
// be known before it is stored.
type bucket struct{ storage target.Target }

// Read implements [export.Folder].
func (b bucket) Read(ctx context.Context, name string) ([]byte, error) {
	r, err := b.storage.Open(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// Replace implements [export.Folder].
func (b bucket) Replace(ctx context.Context, name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp("", "birthmark-export-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	sum := sha256.New()
	if err := write(io.MultiWriter(f, sum)); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return b.storage.Put(ctx, name, target.Content{Bytes: f, Size: info.Size(), SHA256: [32]byte(sum.Sum(nil))})
}

// Remove implements [export.Folder].
func (b bucket) Remove(ctx context.Context, name string) error { return b.storage.Remove(ctx, name) }

// List implements [export.Folder].
func (b bucket) List(ctx context.Context) (map[string]int64, error) {
	files := map[string]int64{}
	for _, table := range export.Tables {
		for e, err := range b.storage.List(ctx, table) {
			if err != nil {
				return nil, err
			}
			files[e.Name] = e.Size
		}
	}
	return files, nil
}

const (
	exportEvery = 10 * time.Second // between two runs at the tip
	exportPart  = 16               // part of the memory for an export beside a server
)

// tableState is the state of the tables that a server keeps up to date.
type tableState struct {
	mu  sync.Mutex
	now served.Tables
}

// state returns the state for metrics.
func (s *tableState) state() served.Tables {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *tableState) exported(r *export.Result, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Seconds, s.now.Written = took.Seconds(), s.now.Written+r.Rows
	if r.Tip != nil {
		s.now.Height = uint64(r.Tip.Height)
	}
	s.now.Rows, s.now.Bytes = 0, 0
	for _, t := range r.Tables {
		s.now.Rows, s.now.Bytes = s.now.Rows+t.Rows, s.now.Bytes+t.Bytes
	}
}

func (s *tableState) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Failures++
}

// exportTables keeps the tables of the database of set up to date as the settings say, until stop is called.
func (h *Host) exportTables(ctx context.Context, set *config.Chain, s *handle) (stop func()) {
	if set.Export.Dir == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	plan := snapshot.Schedule{
		Every: exportEvery, Now: h.Now, Ready: s.atTip, Tip: s.tipHash,
		Create: func() (string, error) { return h.exportOnce(ctx, set, s) },
		Failed: func(err error, pause time.Duration) {
			s.tables.failed()
			h.Log.Error("cannot export tables, retrying", "dir", set.Export.Dir, "error", h.ErrorText(err), "in", pause)
		},
	}
	running.Go(func() { _ = guard.Do(h.Log, "the export of a database", func() { plan.Run(ctx, time.Time{}, "") }) })
	return func() {
		cancel()
		running.Wait()
	}
}

// exportOnce brings the tables to the tip. It returns the hash of the last block.
func (h *Host) exportOnce(ctx context.Context, set *config.Chain, s *handle) (tip string, err error) {
	folder, release, err := h.OpenTables(set, set.Export.Dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	at, err := s.enter()
	if err != nil {
		return "", err
	}
	defer at.users.Done()
	began := h.Now()
	_, memory, heap := config.DivideExport(set.Memory/exportPart, 1)
	defer raiseLimit(heap)()
	o := export.Options{Tables: set.Export.Tables, Confirmations: export.DefaultConfirmations, Memory: memory}
	r, err := at.db.Export(ctx, folder, o)
	if err != nil || r.Tip == nil {
		return "", err
	}
	took := h.Now().Sub(began)
	s.tables.exported(r, took)
	if r.Written > 0 {
		h.Log.Info("exported tables", "height", r.Tip.Height, "rows", r.Rows, "bytes", r.Bytes, "dir", set.Export.Dir, "took", took.Round(time.Millisecond))
	}
	return r.Tip.Hash, nil
}

// serveTables answers requests of the files of tables that are in a folder of this machine.
func (s *Server) serveTables(mux *http.ServeMux) {
	for _, c := range s.chains {
		set := s.Protocols[c.Name]
		if set == nil || set.Export.Dir == "" || strings.Contains(strings.TrimPrefix(set.Export.Dir, "file://"), "://") {
			continue
		}
		path := "/export/" + c.Name + "/"
		mux.Handle(path, http.StripPrefix(path, tables.Handler(strings.TrimPrefix(set.Export.Dir, "file://"))))
	}
}
