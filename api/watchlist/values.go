package watchlist

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"birthmark/core/query"
	"birthmark/core/query/valueset"
	"birthmark/model"
)

const (
	// MaxValues is the maximum number of values of a list.
	MaxValues = 10_000_000
	// MaxAccounts is the maximum number of extended public keys and descriptors of a list.
	MaxAccounts = 100
	// DefaultGap is the number of unused addresses in a row after which no address of a branch is expected (BIP 44).
	DefaultGap = query.DefaultGap
	// MaxGap is the maximum of it.
	MaxGap = query.MaxGap

	maxLine   = 2*model.MaxValueSize + 1<<10 // bytes, more than a value in hex has
	readBatch = 4096                         // lines between two calls of room
)

// DefaultIndex is the index of a list without a named one.
const DefaultIndex = "address"

// Values are the values of a list. They are safe for concurrent use.
type Values struct {
	index string
	gap   int
	chain model.Chain
	parse func(text string) ([]byte, error)
	set   *valueset.Set

	mu       sync.Mutex // of branches and at
	branches []*branch
	count    int         // accounts
	at       model.Point // tip of the last Extend
}

// branch is a branch of an extended key or a descriptor. Its values up to last+gap are in the list.
type branch struct {
	wallet model.Wallet
	number int
	last   int        // position of the last used value; -1: none
	unused [][][]byte // values of the positions after it; none: the branch leaves the position out
}

// NewValues returns an empty list of values of an index of the database. Errors are of kind [model.Usage].
func NewValues(ctx context.Context, qs query.Queries, index string, gap int) (v *Values, err error) {
	if gap < 1 || gap > MaxGap {
		return nil, model.Errorf(model.Usage, "bad_gap", "gap %d: expected a number from 1 to %d", gap, MaxGap)
	}
	err = qs.From(ctx, func(q *query.Query) error {
		x, err := q.Index(index)
		if err == nil {
			v = &Values{index: index, gap: gap, chain: q.Chain, parse: x.Parse, set: valueset.New()}
		}
		return err
	})
	return v, err
}

// List returns the list for a filter of changes.
func (v *Values) List() *query.WatchList { return &query.WatchList{Index: v.index, Values: v.set} }

// Index returns the name of the index.
func (v *Values) Index() string { return v.index }

// Count returns the number of values, and of accounts.
func (v *Values) Count() (values, accounts int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.set.Count(), v.count
}

// Size returns the memory of the values in bytes.
func (v *Values) Size() int64 { return v.set.Size() }

// Read adds values, one per line: values of the index, extended public keys and descriptors. Empty lines and lines that
// begin with # are ignored. room is called from time to time; its error ends the reading. The values of the lines before
// an error stay in the list. Errors about a line are of kind [model.Usage] and have its number.
func (v *Values) Read(r io.Reader, room func() error) error {
	lines := bufio.NewReaderSize(r, maxLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			return model.Errorf(model.Usage, "bad_value", "line %d has more than %d bytes: expected one value per line", n, maxLine)
		case err != nil && err != io.EOF:
			return err
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // a byte order mark
		}
		last := err == io.EOF
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			if err := v.add(string(line)); err != nil {
				return atLine(n, err)
			}
		}
		if n%readBatch == 0 || last {
			if err := room(); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func atLine(n int, err error) error {
	kind, code := model.KindOf(err)
	if kind != model.Usage {
		return err
	}
	return model.Errorf(model.Usage, code, "line %d: %w", n, err)
}

func (v *Values) add(line string) error {
	w, err := model.WalletOf(v.chain, v.index, line)
	if err != nil {
		return err
	}
	if w != nil {
		return v.addWallet(w)
	}
	if c, ok := v.chain.(model.IndexChooser); ok && c.ChooseIndex(v.index, line) != v.index {
		return model.Errorf(model.Usage, "bad_value", "the value is one of index %s, not of %s: use a list of that index",
			c.ChooseIndex(v.index, line), v.index)
	}
	value, err := v.parse(line)
	if err != nil {
		return model.Errorf(model.Usage, "bad_value", "%s: %w", v.index, err)
	}
	return v.put(value)
}

func (v *Values) put(value []byte) error {
	if v.set.Count() >= MaxValues && !v.set.Has(value) {
		return model.Errorf(model.Usage, "too_many_values", "more than %d values, the limit of a watch list", MaxValues)
	}
	_, err := v.set.Add(value)
	if errors.Is(err, valueset.ErrTooLarge) {
		return model.Errorf(model.Usage, "too_many_values", "%w", err)
	}
	return err
}

func (v *Values) addWallet(w model.Wallet) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count == MaxAccounts {
		return model.Errorf(model.Usage, "too_many_values", "more than %d extended public keys, the limit of a watch list", MaxAccounts)
	}
	v.count++
	v.at = model.Point{}
	for n := range w.Branches() {
		v.branches = append(v.branches, &branch{wallet: w, number: n, last: -1})
	}
	return nil
}

// Extend adds the addresses of accounts up to the gap after the last one that the chain has. It is called before the
// changes of a snapshot are read, so that an address that is used in them, within the gap, is in the list.
func (v *Values) Extend(ctx context.Context, qs query.Queries) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.branches) == 0 {
		return nil
	}
	return qs.From(ctx, func(q *query.Query) error {
		if v.at == q.Tip && !v.at.IsOrigin() {
			return nil
		}
		x, err := q.Index(v.index)
		if err != nil {
			return err
		}
		used := func(value []byte) (bool, error) {
			birth, err := q.Birth(x, value)
			return birth != nil, err
		}
		for _, b := range v.branches {
			if err := v.extend(ctx, b, used); err != nil {
				return err
			}
		}
		v.at = q.Tip
		return nil
	})
}

// extend moves a branch to its last used value. A branch without a range has one position.
func (v *Values) extend(ctx context.Context, b *branch, used func(value []byte) (bool, error)) error {
	gap := v.gap
	if !b.wallet.Ranged() {
		if len(b.unused) > 0 {
			return nil
		}
		gap = 1
	}
	for {
		for len(b.unused) < gap {
			values, err := v.values(b, b.last+1+len(b.unused))
			if err != nil {
				return err
			}
			b.unused = append(b.unused, values)
		}
		last := -1
		for i, values := range b.unused {
			for _, value := range values {
				is, err := used(value)
				if err != nil {
					return err
				}
				if is {
					last = i
				}
			}
		}
		if last < 0 || !b.wallet.Ranged() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b.last += last + 1
		b.unused = append([][][]byte(nil), b.unused[last+1:]...)
	}
}

// values adds the values of a position of a branch to the list and returns them.
func (v *Values) values(b *branch, position int) ([][]byte, error) {
	values, _, err := b.wallet.Values(b.number, position)
	for _, value := range values {
		if err == nil {
			err = v.put(value)
		}
	}
	return values, err
}

// clear releases the memory of the values.
func (v *Values) clear() { v.set.Clear() }
