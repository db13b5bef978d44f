package watchlist

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
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
	DefaultGap = 20
	// MaxGap is the maximum of it.
	MaxGap = 1000

	maxLine   = 2*model.MaxValueSize + 1<<10 // bytes, more than a value in hex has
	readBatch = 4096                         // lines between two calls of room
)

// DefaultIndex is the index of a list without a named one.
const DefaultIndex = "address"

// Parser returns the account that a line of a list names; nil if it is a value of the index.
type Parser func(line string) (Account, error)

// Account is an extended public key or a descriptor.
type Account interface {
	Branches() int
	// Address returns an address of a branch; empty if the branch leaves the index out.
	Address(branch, index int) (string, error)
}

// Values are the values of a list. They are safe for concurrent use.
type Values struct {
	index    string
	gap      int
	parse    func(text string) ([]byte, error)
	accounts Parser // nil: the chain has none
	set      *valueset.Set

	mu       sync.Mutex // of branches and at
	branches []*branch
	count    int         // accounts
	at       model.Point // tip of the last Extend
}

// branch is a branch of an account. Its addresses up to last+gap are in the list.
type branch struct {
	account Account
	number  int
	last    int      // index of the last used address; -1: none
	unused  [][]byte // addresses after it; nil: the branch leaves the index out
}

// NewValues returns an empty list of values of an index of the database; accounts may be nil. Errors are of kind
// [model.Usage].
func NewValues(ctx context.Context, qs query.Queries, index string, gap int, accounts Parser) (v *Values, err error) {
	if gap < 1 || gap > MaxGap {
		return nil, model.Errorf(model.Usage, "bad_gap", "gap %d: expected a number from 1 to %d", gap, MaxGap)
	}
	if index != DefaultIndex {
		accounts = nil
	}
	err = qs.From(ctx, func(q *query.Query) error {
		x, err := q.Index(index)
		if err == nil {
			v = &Values{index: index, gap: gap, parse: x.Parse, accounts: accounts, set: valueset.New()}
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
	if v.accounts != nil {
		a, err := v.accounts(line)
		if err != nil {
			return err
		}
		if a != nil {
			return v.addAccount(a)
		}
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

func (v *Values) addAccount(a Account) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count == MaxAccounts {
		return model.Errorf(model.Usage, "too_many_values", "more than %d extended public keys, the limit of a watch list", MaxAccounts)
	}
	v.count++
	v.at = model.Point{}
	for n := range a.Branches() {
		v.branches = append(v.branches, &branch{account: a, number: n, last: -1})
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

// extend moves a branch to its last used address.
func (v *Values) extend(ctx context.Context, b *branch, used func(value []byte) (bool, error)) error {
	for {
		for len(b.unused) < v.gap {
			value, err := v.address(b, b.last+1+len(b.unused))
			if err != nil {
				return err
			}
			b.unused = append(b.unused, value)
		}
		last := -1
		for i, value := range b.unused {
			if value == nil {
				continue
			}
			is, err := used(value)
			if err != nil {
				return err
			}
			if is {
				last = i
			}
		}
		if last < 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b.last += last + 1
		b.unused = append([][]byte(nil), b.unused[last+1:]...)
	}
}

// address adds an address of a branch to the list and returns its stored form.
func (v *Values) address(b *branch, index int) ([]byte, error) {
	text, err := b.account.Address(b.number, index)
	if err != nil || text == "" {
		return nil, err
	}
	value, err := v.parse(text)
	if err != nil {
		return nil, fmt.Errorf("address %s of an account: %w", text, err)
	}
	return value, v.put(value)
}

// clear releases the memory of the values.
func (v *Values) clear() { v.set.Clear() }
