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
	"slices"
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

	// A shard spills if a table at its bound is filled by spillLoad/16.
	spillLoad = 12
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

// deleteObsolete deletes the files of retired runs. Files that remain are deleted when the caches are warmed up.
func (r *runs) deleteObsolete() {
	for _, path := range r.obsolete {
		_ = os.Remove(path)
	}
	r.obsolete = nil
}

// SetFolder enables overflow runs: they are files in the folder, which no other process uses. At most the given number of
// them may be open.
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

func (s *shard) fail(err error) { s.err = errors.Join(s.err, err) }

// checkRuns stops using runs after an error, since they are a cache of the database, and the filter if a value did not
// fit into it.
func (c *Caches) checkRuns() {
	var err error
	full := false
	for i := range c.shards {
		s := &c.shards[i]
		err, full = errors.Join(err, s.err), full || s.full
		s.err, s.full = nil, false
	}
	if err != nil {
		c.runs.err, c.runs.folder = err, ""
	}
	if err != nil || full {
		c.lookUpBirths()
	}
}

// lookUpBirths makes the births unknown, and removes the filters and the runs.
func (c *Caches) lookUpBirths() {
	c.births = birthsUnknown
	for i := range c.shards {
		c.shards[i].filter.clear()
	}
	c.removeRuns()
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
		s := &c.shards[i]
		for _, all := range [][]*overflow{s.birthRuns, s.outputRuns} {
			for _, r := range all {
				s.c.runs.retire(r.Run)
			}
		}
		s.birthRuns, s.outputRuns, s.spilled, s.unspilled = nil, nil, 0, s.births.used
		s.pin()
	}
}

func (s *shard) pin() {
	s.unspent.pinFloor, s.births.pinFloor = s.c.pinned, s.c.pinned
	if s.c.births == birthsComplete {
		s.births.pinFloor = min(s.c.pinned, model.UtxoPk(s.spilled))
		if s.c.runs.folder != "" {
			s.unspent.pinFloor = 0 // entries are spilled, not evicted
		}
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

// spill moves entries of full tables to runs. Without a folder for runs, the caches use the filter instead.
func (c *Caches) spill() {
	if c.births != birthsComplete {
		return
	}
	if c.runs.folder == "" {
		for i := range c.shards {
			if c.shards[i].births.isFull() {
				c.leaveRuns()
				return
			}
		}
		return
	}
	written := c.runs.spilt.Load()
	c.each(func(s *shard) {
		if err := s.spill(); err != nil {
			s.fail(err)
		}
	})
	c.checkRuns()
	if c.runs.spilt.Load() > written {
		c.divide()
	}
}

// isFull reports whether the table is at its bound and filled so that it spills.
func (t *table) isFull() bool {
	return t.used > t.capacity*spillLoad/16 && len(t.entries) >= t.capacity*15/16
}

func (s *shard) spill() error {
	if s.births.isFull() && s.unspilled > s.births.capacity/4 {
		if err := s.spillBirths(); err != nil {
			return err
		}
	}
	if s.unspent.isFull() {
		return s.spillOutputs()
	}
	return nil
}

// spillBirths writes all births of committed batches that are in no run.
func (s *shard) spillBirths() error {
	from, to := s.spilled, uint64(s.c.pinned)
	var payload [birthPayload]byte
	r, err := s.write("births", s.births, from, to, birthPayload, func(e *entry, _ int) []byte {
		binary.LittleEndian.PutUint16(payload[:], uint16(s.births.number(e)))
		return payload[:]
	})
	if err != nil {
		return err
	}
	s.spilled = max(from, to)
	s.unspilled = s.births.used - s.births.count(func(pk uint64) bool { return pk < s.spilled })
	s.pin()
	s.birthRuns, err = s.merge("births", append(s.birthRuns, r...))
	return err
}

// spillOutputs moves the older half of the unspent outputs of committed batches to a run.
func (s *shard) spillOutputs() error {
	middle := s.unspent.newest(s.unspent.used/2, func(*entry) bool { return true })
	to := min(middle, uint64(s.c.pinned))
	payload := make([]byte, outputPayload+8*s.unspent.words)
	r, err := s.write("outputs", s.unspent, 0, to, len(payload), func(e *entry, slot int) []byte {
		binary.LittleEndian.PutUint64(payload, s.unspent.number(e))
		for i := range s.unspent.words {
			binary.LittleEndian.PutUint64(payload[outputPayload+8*i:], s.unspent.at(slot)[i])
		}
		return payload
	})
	if err != nil {
		return err
	}
	s.unspent.retain(func(pk uint64) bool { return pk >= to })
	s.outputRuns, err = s.merge("outputs", append(s.outputRuns, r...))
	return err
}

// count returns the number of entries for which the function is true.
func (t *table) count(want func(pk uint64) bool) (n int) {
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && want(e.pk) {
			n++
		}
	}
	return n
}

// path returns the path of a new run.
func (s *shard) path(kind string) string {
	return filepath.Join(s.c.runs.folder, fmt.Sprintf("%s-%d-%x", kind, s.number, s.c.runs.next.Add(1)))
}

// write writes the entries of a table with from <= pointer < to to a run; none if there are none.
func (s *shard) write(kind string, t *table, from, to uint64, payload int, payloadOf func(e *entry, slot int) []byte) ([]*overflow, error) {
	n := t.count(func(pk uint64) bool { return pk >= from && pk < to })
	if n == 0 {
		return nil, nil
	}
	if err := errors.Join(s.c.runs.mayOpen(), os.MkdirAll(s.c.runs.folder, 0o755)); err != nil {
		return nil, err
	}
	w, err := run.Create(s.path(kind), payload, n)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	var slots []int // entries with the same tag
	for i := range t.entries {
		e := &t.entries[i]
		if e.tag == 0 || e.pk < from || e.pk >= to {
			continue
		}
		if len(slots) > 0 && t.entries[slots[0]].tag != e.tag {
			if err := addAll(w, t, slots, payloadOf); err != nil {
				return nil, err
			}
			slots = slots[:0]
		}
		slots = append(slots, i)
	}
	if err := addAll(w, t, slots, payloadOf); err != nil {
		return nil, err
	}
	r, err := w.Finish()
	if err != nil {
		return nil, err
	}
	s.c.runs.spilt.Add(r.Bytes())
	return []*overflow{s.c.runs.add(r, 0)}, nil
}

// addAll adds entries with the same tag to a run, in the order of their further bits.
func addAll(w *run.Writer, t *table, slots []int, payloadOf func(e *entry, slot int) []byte) error {
	if len(slots) > 1 {
		slices.SortFunc(slots, func(a, b int) int { return int(t.runBits(t.entries[a].rest)) - int(t.runBits(t.entries[b].rest)) })
	}
	for _, slot := range slots {
		e := &t.entries[slot]
		if err := w.Add(e.tag, t.runBits(e.rest), e.pk, payloadOf(e, slot)); err != nil {
			return err
		}
	}
	return nil
}

// merge merges the newest runs while mergedRuns of them are of the same level.
func (s *shard) merge(kind string, all []*overflow) ([]*overflow, error) {
	for {
		n := len(all) - mergedRuns
		if n < 0 || all[n].level != all[len(all)-1].level {
			return all, nil
		}
		old := make([]*run.Run, 0, mergedRuns)
		for _, r := range all[n:] {
			old = append(old, r.Run)
		}
		merged, err := run.Merge(s.path(kind), old, nil)
		if err != nil {
			return all, err
		}
		s.c.runs.spilt.Add(merged.Bytes())
		level := all[n].level + 1
		all = append(all[:n:n], s.c.runs.add(merged, level))
		for _, r := range old {
			s.c.runs.retire(r)
		}
	}
}

// Settle must be called when a first sync has reached the tip: later blocks need no runs.
func (c *Caches) Settle() { c.leaveRuns() }

// Complete reports whether the caches have the births of all values: a first sync is running.
func (c *Caches) Complete() bool { return c.births == birthsComplete }

// leaveRuns ends the use of overflow runs, at the end of a first sync. A filter of all values replaces them if it fits
// into its share of the memory.
func (c *Caches) leaveRuns() {
	if c.births != birthsComplete {
		return
	}
	c.each(func(s *shard) {
		s.filter.maxBytes = c.filterBytes()
		if err := s.fillFilter(); err != nil {
			s.fail(err)
		}
	})
	c.births, c.snapshotAt = birthsFiltered, model.Point{}
	c.removeRuns()
	c.divide()
	c.checkRuns()
}

// fillFilter adds all values of the shard to the filter.
func (s *shard) fillFilter() error {
	s.filter.clear()
	values := s.unspilled
	for _, r := range s.birthRuns {
		values += r.Len()
	}
	blocks := (values+values/8)*bloomBits/(bloomBlockSize*8) + 1
	if s.full = !s.filter.grow(max(firstBlocks, blocks)); s.full {
		return nil
	}
	for i := range s.births.entries {
		if e := &s.births.entries[i]; e.tag != 0 && e.pk >= s.spilled {
			s.filter.add(e.tag)
		}
	}
	for _, r := range s.birthRuns {
		for e, err := range r.All() {
			if err != nil {
				return err
			}
			s.filter.add(e.Tag)
		}
	}
	return nil
}
