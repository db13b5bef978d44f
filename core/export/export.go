package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
)

// Result is the outcome of an export.
type Result struct {
	Chain   string       `json:"chain"`
	Network string       `json:"network"`
	Format  string       `json:"format"`
	Tip     *ManifestTip `json:"tip"` // the last block; null: none
	Parts   int          `json:"parts"`
	Written int          `json:"written"` // parts that this run wrote
	Rows    uint64       `json:"rows"`    // in those parts
	Bytes   uint64       `json:"bytes"`
	Tables  []TableSize  `json:"tables"` // of all parts
}

// TableSize is the size of a table.
type TableSize struct {
	Table string `json:"table"`
	Files int    `json:"files"`
	Rows  uint64 `json:"rows"`
	Bytes uint64 `json:"bytes"`
}

// errMoved is returned for a part whose last block is no longer on the chain.
var errMoved = errors.New("the chain was reorganized")

// Run brings the export in a folder to the tip of a database. It writes the parts that the manifest lacks, or whose last
// block is no longer on the chain, and removes the others. It can be interrupted and repeated. Two runs on one folder must
// not overlap. The error is of kind [model.Refused] (export_mismatch) if the folder has an export with other settings.
func Run(ctx context.Context, db query.Database, folder Folder, o Options) (*Result, error) {
	for {
		r, err := run(ctx, db, folder, o)
		if !errors.Is(err, errMoved) {
			return r, err
		}
	}
}

func run(ctx context.Context, db query.Database, folder Folder, o Options) (*Result, error) {
	e := &exporter{db: db, folder: folder, o: o}
	if err := db.Snapshot(ctx, e.begin); err != nil {
		return nil, err
	}
	missing, err := e.compare(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.write(ctx, missing); err != nil {
		return nil, err
	}
	return e.end(ctx, len(missing))
}

// exporter is a run of an export.
type exporter struct {
	db       query.Database
	folder   Folder
	o        Options
	chain    model.Chain
	tip      *ManifestTip
	plan     []span
	hashes   []string // of the last block of each span
	allTxs   uint64
	whole    bool // of the whole chain
	manifest *Manifest
	stored   string // the manifest in the folder

	skipped    uint64
	mu         sync.Mutex // guards manifest while parts are written
	doneTxs    atomic.Uint64
	doneRows   atomic.Uint64
	rows, size uint64
}

// begin reads the tip and makes the plan.
func (e *exporter) begin(s query.Snapshot) error {
	if err := e.o.check(s.Layout); err != nil {
		return err
	}
	e.chain = s.Chain
	var header []byte
	if !s.Tip.IsOrigin() {
		row, err := schema.BlockAt(s.Reader, s.Tip.Height)
		if err != nil {
			return err
		}
		header = row.Header
		lowest := model.HeightPk(0)
		if _, ok, err := schema.FindBlock(s.Reader, lowest); err != nil || !ok {
			lowest++
			if err != nil {
				return err
			}
		}
		e.plan = plan(lowest, s.Tip.Height, &e.o)
		e.allTxs, e.whole = s.Totals.Rows[schema.FamilyTxHash], e.o.From == 0 && e.o.To == nil
	}
	for _, part := range e.plan {
		row, err := schema.BlockAt(s.Reader, part.to)
		if err != nil {
			return err
		}
		e.hashes = append(e.hashes, s.Chain.FormatHash(row.Hash))
		e.tip = &ManifestTip{uint32(part.to), s.Chain.FormatHash(row.Hash), row.Time}
	}
	c, err := columnsOf(s.Layout, header, &e.o)
	if err == nil {
		e.manifest = describe(s.Chain, c.tables, &e.o)
	}
	return err
}

// compare returns the positions in the plan of the parts that the folder lacks, and leaves the others in the manifest.
func (e *exporter) compare(ctx context.Context) (missing []int, err error) {
	text, err := e.folder.Read(ctx, ManifestName)
	earlier := &Manifest{}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		e.stored = string(text)
		if earlier, err = parseManifest(text); err != nil {
			return nil, err
		}
		if what := e.manifest.mismatch(earlier); what != "" {
			return nil, model.Errorf(model.Refused, "export_mismatch",
				"the folder has an export that differs in %s: export to another folder, or remove its files", what)
		}
	}
	files, err := e.folder.List(ctx)
	if err != nil {
		return nil, err
	}
	parts := map[uint32]*Part{}
	for i := range earlier.Parts {
		parts[earlier.Parts[i].From] = &earlier.Parts[i]
	}
	for i := range e.plan {
		s := &e.plan[i]
		p := parts[uint32(s.from)]
		if p == nil || p.To != uint32(s.to) || p.Hash != e.hashes[i] || !e.present(p, s, files) {
			missing = append(missing, i)
			continue
		}
		p.Final = s.final
		e.manifest.Parts = append(e.manifest.Parts, *p)
		e.doneTxs.Add(p.Txs)
		e.skipped += p.Txs
	}
	if len(missing) > 0 && len(earlier.Parts) > len(e.manifest.Parts) {
		// The files of other parts are replaced: the manifest must not list them meanwhile.
		err = e.store(ctx)
	}
	return missing, err
}

// present reports whether the files of a part exist.
func (e *exporter) present(p *Part, s *span, files map[string]int64) bool {
	for i, f := range p.Files {
		size, ok := files[f.Path]
		if !ok || uint64(size) != f.Bytes || f.Path != s.path(e.manifest.Tables[i].Name, e.o.Format) {
			return false
		}
	}
	return len(p.Files) == len(e.manifest.Tables)
}

// write writes the missing parts, several at the same time.
func (e *exporter) write(ctx context.Context, missing []int) error {
	jobs := min(max(e.o.Jobs, 1), len(missing))
	next := make(chan int, len(missing))
	for _, i := range missing {
		next <- i
	}
	close(next)
	g, ctx := errgroup.WithContext(ctx)
	for range jobs {
		g.Go(func() error {
			return guard.Call(func() error {
				reused := newCaches(e.o.Memory / int64(jobs))
				for i := range next {
					if err := e.writePart(ctx, i, reused); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return g.Wait()
}

// writePart writes a part, and adds it to the manifest.
func (e *exporter) writePart(ctx context.Context, i int, reused *caches) error {
	s := e.plan[i]
	made := Part{From: uint32(s.from), To: uint32(s.to), Hash: e.hashes[i], Final: s.final}
	err := e.db.Snapshot(ctx, func(q query.Snapshot) error {
		row, ok, err := schema.FindBlock(q.Reader, s.to)
		if err != nil {
			return err
		}
		if !ok || e.chain.FormatHash(row.Hash) != e.hashes[i] {
			return errMoved
		}
		c, err := columnsOf(q.Layout, row.Header, &e.o)
		if err != nil {
			return err
		}
		if what := describe(e.chain, c.tables, &e.o).mismatch(e.manifest); what != "" {
			return model.Errorf(model.Refused, "export_mismatch", "during the export the database changed in %s: repeat it", what)
		}
		p := &part{
			columns: c, caches: reused, ctx: ctx, l: q.Layout, r: q.Reader, span: s, genesis: q.Totals.GenesisTxs,
			assets: q.Totals.Rows[schema.FamilyAssets] > 0, done: e.progress(),
		}
		if made.Files, err = p.export(e.folder, &e.o); err != nil {
			return err
		}
		made.Txs = p.txCount
		return nil
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range made.Files {
		e.rows, e.size = e.rows+f.Rows, e.size+f.Bytes
	}
	e.manifest.Parts = append(e.manifest.Parts, made)
	slices.SortFunc(e.manifest.Parts, func(a, b Part) int { return int(int64(a.From) - int64(b.From)) })
	return e.store(ctx)
}

// progress returns a function that receives the transactions since the last call, and all rows of a part.
func (e *exporter) progress() func(txs, rows uint64) {
	var mu sync.Mutex
	last := uint64(0)
	return func(txs, rows uint64) {
		mu.Lock()
		defer mu.Unlock()
		rows = max(rows, last)
		done, all := e.doneTxs.Add(txs), e.doneRows.Add(rows-last)
		last = rows
		if e.o.Progress == nil {
			return
		}
		now := Progress{Txs: done, Skipped: e.skipped, Rows: all}
		if e.whole {
			now.AllTxs = e.allTxs
		}
		e.o.Progress(now)
	}
}

// store writes the manifest if it changed.
func (e *exporter) store(ctx context.Context) error {
	text, err := e.manifest.encode()
	if err != nil || string(text) == e.stored {
		return err
	}
	err = e.folder.Replace(ctx, ManifestName, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err == nil {
		e.stored = string(text)
	}
	return err
}

// end removes files that no part has, and completes the manifest.
func (e *exporter) end(ctx context.Context, written int) (*Result, error) {
	e.manifest.Complete, e.manifest.Tip = true, e.tip
	if err := e.store(ctx); err != nil {
		return nil, err
	}
	r := &Result{
		Chain: e.manifest.Chain, Network: e.manifest.Network, Format: e.o.Format, Tip: e.tip, Parts: len(e.manifest.Parts),
		Written: written, Rows: e.rows, Bytes: e.size,
	}
	listed := map[string]bool{}
	for i, t := range e.manifest.Tables {
		size := TableSize{Table: t.Name}
		for _, p := range e.manifest.Parts {
			f := &p.Files[i]
			listed[f.Path] = true
			size.Files, size.Rows, size.Bytes = size.Files+1, size.Rows+f.Rows, size.Bytes+f.Bytes
		}
		r.Tables = append(r.Tables, size)
	}
	files, err := e.folder.List(ctx)
	if err != nil {
		return nil, err
	}
	for name := range files {
		if !listed[name] && owns(name) {
			if err := e.folder.Remove(ctx, name); err != nil {
				return nil, fmt.Errorf("remove %s: %w", name, err)
			}
		}
	}
	return r, nil
}

// ReadManifest returns the manifest of an export.
func ReadManifest(ctx context.Context, folder Folder) (*Manifest, error) {
	text, err := folder.Read(ctx, ManifestName)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	return m, json.Unmarshal(text, m)
}
