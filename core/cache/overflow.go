package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"unsafe"

	"birthmark/core/cache/run"
	"birthmark/model"
	"birthmark/storage"
)

// shard is a part of the caches: the fingerprints with the same top bits. Shards share nothing, so each goroutine can
// use another one.
type shard struct {
	c       *Caches
	number  int
	unspent *table // outpoint (or value of the index by which inputs name outputs) -> output, removed when spent
	births  *table // value of an index or asset id -> birth
	filter  bloom  // of all values, if the births are filtered
	full    bool   // a value did not fit into the filter

	filterShare int64 // bytes that the tables leave to the filter

	// Overflow runs, the oldest first. Births before spilled are in runs, and may also be in the table; births at or after
	// it are in the table only, and are pinned. An unspent output is either in the table or in a run.
	birthRuns, outputRuns []*overflow
	spilled               uint64
	unspilled             int // births at or after spilled in the table; removed ones may be counted

	result  shardResult
	missed  []int32
	missing []missing
	queries []run.Query
	in      []*overflow // the run that has the result of each query
	scratch run.Scratch
	touched uint64 // uses the words that touch loads
	err     error  // of a run; the caches stop using runs
}

// overflow is a run of a shard. Four runs of a level are merged into one of the next level.
type overflow struct {
	*run.Run
	level int
}

// runs are the overflow runs of all shards.
type runs struct {
	folder string // "": tables never overflow into runs
	next   atomic.Int64
	open   atomic.Int64
	most   int64        // that may be open
	err    error        // the error because of which runs are no longer used, until RunError returns it
	spilt  atomic.Int64 // bytes written to runs

	mu       sync.Mutex
	obsolete []string // files that the snapshot may name: they are deleted after the next one is written
}

const (
	birthPayload  = 2 // ordinal
	outputPayload = 8 // value; 8 per owner follow

	mergedRuns = 4

	enoughFiles = 16384 // limit of open files for a process with overflow runs

	// A shard spills if a table at its bound is filled by spillLoad/16, and does not wait for others from brimmingLoad/16
	// on.
	spillLoad    = 12
	brimmingLoad = 14
)

// add counts an open run.
func (r *runs) add(opened *run.Run, level int) *overflow {
	r.open.Add(1)
	return &overflow{opened, level}
}

// mayOpen returns an error if no further run may be open.
func (r *runs) mayOpen() error {
	if n := r.open.Load(); n >= r.most {
		return fmt.Errorf("%d files are open, and the limit of open files permits no more: raise it "+
			"(ulimit -n %d, or LimitNOFILE= of the service)", n, enoughFiles)
	}
	return nil
}

// retire closes a run. Its file is deleted after the next snapshot is written.
func (r *runs) retire(old *run.Run) {
	_ = old.Close() // a file that was only read
	r.open.Add(-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.obsolete = append(r.obsolete, old.Path())
}

func (r *runs) retireAll(all *[]*overflow) {
	for _, old := range *all {
		r.retire(old.Run)
	}
	*all = nil
}

// deleteObsolete deletes the files of retired runs. Files that remain are deleted when the caches are warmed up.
func (r *runs) deleteObsolete() {
	for _, path := range r.obsolete {
		_ = os.Remove(path)
	}
	r.obsolete = nil
}

// SetFolder enables overflow runs: they are files in the folder, which no other process uses. At most the given number
// of them may be open.
func (c *Caches) SetFolder(folder string, files int) {
	c.runs.folder, c.runs.most = folder, int64(files)
	// A snapshot that this process cannot use may name files that it deletes. Random numbers keep later files, which
	// have other fingerprints, from getting those names.
	c.runs.next.Store(rand.Int64N(math.MaxInt64 / 2))
}

// RunError returns the error because of which overflow runs are no longer used, once.
func (c *Caches) RunError() error {
	err := c.runs.err
	c.runs.err = nil
	return err
}

// RunStats are the size and the use of overflow runs.
type RunStats struct {
	Files   int
	Bytes   int64 // of the files
	Entries int64
	Written int64 // bytes since the database was opened, including merges
	Pages   int64 // pages read by lookups since the database was opened
}

// RunStats returns the size and the use of overflow runs.
func (c *Caches) RunStats() RunStats {
	of := RunStats{Written: c.runs.spilt.Load()}
	for i := range c.shards {
		s := &c.shards[i]
		of.Pages += s.scratch.Pages
		for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
			for _, r := range all {
				of.Files++
				of.Bytes += r.Bytes()
				of.Entries += int64(r.Len())
			}
		}
	}
	return of
}

// HasOutputRuns reports whether overflow runs have unspent outputs.
func (c *Caches) HasOutputRuns() bool { return c.outputsInRuns() > 0 }

// outputsInRuns returns the number of entries of the runs of unspent outputs, including dead ones.
func (c *Caches) outputsInRuns() (n int64) {
	for i := range c.shards {
		for _, r := range c.shards[i].outputRuns {
			n += int64(r.Len())
		}
	}
	return n
}

func (s *shard) fail(err error) { s.err = errors.Join(s.err, err) }

// checkRuns stops using runs after an error, since they are a cache of the database, and the filter if a value did not
// fit into it. Tables leave room for a filter that has grown.
func (c *Caches) checkRuns() {
	var err error
	full, grown := false, false
	for i := range c.shards {
		s := &c.shards[i]
		err, full = errors.Join(err, s.err), full || s.full
		grown = grown || s.filter.bytes > s.filterShare
		s.err, s.full = nil, false
	}
	if err != nil {
		c.runs.err, c.runs.folder = err, ""
		c.removeRuns()
	}
	if full || err != nil && c.births == birthsComplete {
		c.lookUpBirths()
	} else if grown || err != nil {
		c.divide()
	}
}

// lookUpBirths makes the births unknown, and removes the filters and the runs of births.
func (c *Caches) lookUpBirths() {
	c.births = birthsUnknown
	for i := range c.shards {
		c.shards[i].filter.clear()
		c.shards[i].removeBirthRuns()
	}
	c.divide()
}

// syncRuns makes the runs durable, so that a snapshot can name them.
func (c *Caches) syncRuns() {
	if c.runs.open.Load() > 0 {
		c.each(func(s *shard) {
			for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
				for _, r := range all {
					if err := r.Sync(); err != nil {
						s.fail(err)
					}
				}
			}
		})
		if err := storage.SyncFolder(c.runs.folder); err != nil {
			c.shards[0].fail(err)
		}
	}
	c.checkRuns()
}

// removeUnusedRuns deletes the files of runs that a former process left and the snapshot does not name.
func (c *Caches) removeUnusedRuns() {
	if c.runs.folder == "" {
		return
	}
	used := map[string]bool{}
	for i := range c.shards {
		s := &c.shards[i]
		for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
			for _, r := range all {
				used[filepath.Base(r.Path())] = true
			}
		}
	}
	files, err := os.ReadDir(c.runs.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, f := range files {
		if err == nil && !used[f.Name()] {
			err = os.Remove(filepath.Join(c.runs.folder, f.Name()))
		}
	}
	if err != nil {
		c.shards[0].fail(err) // the next checkRuns handles it
	}
}

func (c *Caches) removeRuns() {
	for i := range c.shards {
		c.shards[i].removeRuns()
	}
}

func (s *shard) removeRuns() {
	s.removeBirthRuns()
	s.removeOutputRuns()
}

func (s *shard) removeBirthRuns() {
	s.c.runs.retireAll(&s.birthRuns)
	s.spilled, s.unspilled = 0, s.births.used
	s.pin()
}

func (s *shard) removeOutputRuns() { s.c.runs.retireAll(&s.outputRuns) }

func (s *shard) pin() {
	s.unspent.pinFloor, s.births.pinFloor = s.c.pinned, s.c.pinned
	if s.c.births == birthsComplete {
		s.births.pinFloor = min(s.c.pinned, model.UtxoPk(s.spilled))
	}
	if s.c.runs.folder != "" {
		s.unspent.pinFloor = 0 // entries are spilled, not evicted
	}
}

// truncate ignores entries of runs at first or later.
func (s *shard) truncate(first model.UtxoPk) {
	for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
		for _, r := range all {
			r.SetLimit(uint64(first))
		}
	}
	s.spilled = min(s.spilled, uint64(first))
	s.pin()
}

// mapFilters maps the filters of runs, the oldest first, until the runs need at most the given memory.
func (s *shard) mapFilters(most int64) {
	for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
		for _, r := range all {
			if s.runMemory() <= most {
				return
			}
			if err := r.MapFilter(); err != nil {
				s.fail(err) // the next checkRuns handles it
			}
		}
	}
}

// mapped returns the bytes of mapped filters. The system may keep them in memory.
func (s *shard) mapped() (n int64) {
	for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
		for _, r := range all {
			n += r.Mapped()
		}
	}
	return n
}

func (s *shard) runMemory() (n int64) {
	for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
		for _, r := range all {
			n += r.Memory()
		}
	}
	return n
}

// runBits returns the bits of a fingerprint that runs store in addition to the tag; rest has those of a table's entry.
func (t *table) runBits(rest uint64) uint16 { return uint16(rest & t.mask() >> max(t.payload, 63-16)) }

func (s *shard) parseBirth(q *run.Query) model.BirthPk {
	return model.BirthPk{Utxo: model.UtxoPk(q.Pk), Ordinal: binary.LittleEndian.Uint16(s.scratch.Payload(q))}
}

func (s *shard) parseOutput(q *run.Query, words []uint64) Output {
	b := s.scratch.Payload(q)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[outputPayload+8*i:])
	}
	return Output{model.UtxoPk(q.Pk), binary.LittleEndian.Uint64(b)}
}

func uint64s(o []Owner) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.SliceData(o)), len(o))
}
