package watchlist_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"birthmark/api/watchlist"
	"birthmark/core"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// ladder is the text of a wallet with a number of branches. The address at position P of branch B is aBBPPPP in hex; every
// 50th position is left out.
func ladder(branches int) string {
	lists := make([]string, branches)
	for b := range lists {
		var list []string
		for p := range 200 {
			if p%50 == 49 {
				list = append(list, "")
			} else {
				list = append(list, fmt.Sprintf("%02x%04x", b, p))
			}
		}
		lists[b] = strings.Join(list, ",")
	}
	return "wallet:" + strings.Join(lists, ";")
}

// chain is a database whose blocks pay to addresses.
type chain struct {
	t  *testing.T
	db *core.DB
	at model.Point
}

func newChain(t *testing.T) *chain {
	t.Helper()
	v := modeltest.Variants()[0]
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Indexes: []string{"address"}})
	if err != nil {
		t.Fatal(err)
	}
	return &chain{t: t, db: db}
}

// pay adds a block with an output for each address.
func (c *chain) pay(addresses ...string) {
	c.t.Helper()
	n := byte(c.db.Tip().Height + 1)
	b := &model.Block{Height: model.HeightPk(n), Hash: model.Hash{n, 1}, Parent: c.at.Hash, Txs: []model.Tx{{Hash: model.Hash{n, 2}}}}
	for _, a := range addresses {
		value, err := hex.DecodeString(a[1:])
		if err != nil {
			c.t.Fatal(err)
		}
		b.Txs[0].Outputs = append(b.Txs[0].Outputs, model.Output{Value: 1, Keys: []model.Key{{Index: 0, Value: value}}})
	}
	if err := c.db.Append(context.Background(), []*model.Block{b}); err != nil {
		c.t.Fatal(err)
	}
	c.at = b.Point()
}

func (c *chain) values(lines string) *watchlist.Values {
	c.t.Helper()
	v, err := watchlist.NewValues(c.t.Context(), c.db.Queries, "address", 5)
	if err == nil {
		err = v.Read(strings.NewReader(lines), func() error { return nil })
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

// The list has the addresses of an account up to the gap after the last used one. This holds if several blocks use
// addresses beyond the first gap, and if a branch skips an index.
func TestAccountsAreExtended(t *testing.T) {
	c := newChain(t)
	c.pay("a000003", "a000007") // the second is within the gap after the first
	v := c.values(ladder(2) + "\na77\n")
	has := func(address string) bool {
		value, _ := hex.DecodeString(address[1:])
		return v.List().Values.Has(value)
	}
	extend := func() {
		t.Helper()
		if err := v.Extend(t.Context(), c.db.Queries); err != nil {
			t.Fatal(err)
		}
	}
	extend()
	for address, want := range map[string]bool{
		"a77": true, "a000000": true, "a00000c": true, "a00000d": false, "a010004": true, "a010005": false,
	} {
		if has(address) != want {
			t.Errorf("%s: %t", address, !want)
		}
	}
	for i := 12; i <= 60; i += 4 {
		c.pay(fmt.Sprintf("a00%04x", i))
	}
	extend()
	if !has("a000041") || has("a000042") { // 60 and five
		t.Errorf("after address 60: %t %t", has("a000041"), has("a000042"))
	}
	if values, n := v.Count(); n != 1 || values != 66-1+5+1 {
		t.Errorf("%d values of %d accounts", values, n)
	}
	before := v.Size()
	if extend(); v.Size() != before {
		t.Error("a second Extend at the same tip added values")
	}
}

func TestLinesOfLists(t *testing.T) {
	c := newChain(t)
	v := c.values("\xef\xbb\xbf# made by hand\r\n\r\n  a0102 \r\na0102\na0203")
	if n, _ := v.Count(); n != 2 || v.Index() != "address" {
		t.Errorf("%d values of %s", n, v.Index())
	}
	for lines, want := range map[string]string{
		"a01\n\nb02": `line 3: address: expected a and hex digits`,
		strings.Repeat("wallet:00\n", watchlist.MaxAccounts+1): "line 101: more than 100 extended public keys",
		strings.Repeat("a", 70_000):                            "line 1 has more than",
	} {
		v := c.values("")
		err := v.Read(strings.NewReader(lines), func() error { return nil })
		if kind, _ := model.KindOf(err); err == nil || kind != model.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, expected %q", lines, err, want)
		}
	}
	for _, gap := range []int{0, watchlist.MaxGap + 1} {
		if _, err := watchlist.NewValues(t.Context(), c.db.Queries, "address", gap); err == nil {
			t.Errorf("a gap of %d is accepted", gap)
		}
	}
	if _, err := watchlist.NewValues(t.Context(), c.db.Queries, "tag", 5); err == nil {
		t.Error("an index that the database does not have is accepted")
	}
}

// If the lists need too much memory, lists without users are removed, the least recently used first. Lists with users
// are never removed.
func TestListsAreRemovedForMemory(t *testing.T) {
	c := newChain(t)
	values := func(first, n int) *watchlist.Values {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a%08x\n", first+i)
		}
		return c.values(b.String())
	}
	one := values(0, 1000).Size()
	lists := watchlist.NewLists(4*one + one/2)
	add := func(first int) *watchlist.List {
		t.Helper()
		l := lists.Add(values(first, 1000))
		if err := l.Charge(); err != nil {
			t.Fatal(err)
		}
		return l
	}
	used, old, young, other := add(0), add(1000), add(2000), add(3000)
	old.Release()
	young.Release()
	if again, err := lists.Acquire(old.ID); err != nil { // used again: young is the older one now
		t.Fatal(err)
	} else {
		again.Release()
	}
	add(4000)
	if _, err := lists.Acquire(young.ID); err == nil {
		t.Error("the least recently used list was not removed")
	}
	add(5000)
	if _, err := lists.Acquire(old.ID); err == nil {
		t.Error("a list without users was not removed")
	}
	last := lists.Add(values(6000, 1000))
	if err := last.Charge(); err == nil || !strings.Contains(err.Error(), "need more than their") {
		t.Errorf("lists with users were removed: %v", err)
	}
	last.Discard()
	for _, l := range []*watchlist.List{used, other} {
		got, err := lists.Acquire(l.ID)
		if err != nil || got != l || !l.List().Values.Has([]byte{0, 0, 0, 1}) && l == used {
			t.Errorf("a list with users was removed: %v", err)
		}
	}
	if n, bytes := lists.Stats(); n != 4 || bytes != 4*one {
		t.Errorf("%d lists of %d bytes, expected 4 of %d", n, bytes, 4*one)
	}
	ids := []string{used.ID, old.ID, young.ID, other.ID}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) != 4 || len(ids[0]) < 26 {
		t.Errorf("ids %q", ids)
	}
}
