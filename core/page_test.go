package core_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// firstPage is the cursor after a first page.
type firstPage struct {
	list string
	page query.Page // the next page
	last entry
}

func firstPages(t *testing.T, db *core.DB, r *reference) (pages []firstPage) {
	t.Helper()
	for _, l := range r.lists() {
		for _, descending := range []bool{false, true} {
			for _, limit := range []int{3, 1}[:amount(2, 1)] {
				p := query.Page{Limit: limit, Descending: descending}
				_, next, err := l.page(db, p)
				if err != nil {
					t.Fatalf("%.200s: %v", l.name, err)
				}
				if next != nil {
					p.After, p.Limit = *next, 25
					pages = append(pages, firstPage{l.name, p, l.in(descending)[limit-1]})
				}
			}
		}
	}
	if len(pages) == 0 {
		t.Fatal("no list has more than a page")
	}
	return pages
}

func (r *reference) listsByName() map[string]*list {
	named := map[string]*list{}
	for _, l := range r.lists() {
		named[l.name] = l
	}
	return named
}

// Blocks that are appended between two pages do not repeat or remove entries.
func TestPagesContinueWhileTheChainGrows(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 210)).Blocks(40)
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks[:25], 7)
		pages := firstPages(t, db, newReference(v, blocks[:25]))
		appendAll(t, db, blocks[25:], 7)
		lists := newReference(v, blocks).listsByName()
		for _, p := range pages {
			l := lists[p.list]
			l.walk(t, db, p.page, behind(l.in(p.page.Descending), p.last.at, p.page.Descending))
		}
		consistent(t, db)
	})
}

// A cursor after an entry of an orphaned block is rejected, also if another block has its height. Cursors of other
// blocks stay valid, and become valid again if their block returns.
func TestCursorsOfRemovedBlocksFail(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		g := v.NewGenerator(testseed.Of(t, 220))
		stay := g.Blocks(18)
		other := g.Fork(1).Blocks(14)
		gone := g.Blocks(12)
		blocks := append(stay[:18:18], gone...)
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks, 7)
		pages := firstPages(t, db, newReference(v, blocks))
		tip := stay[len(stay)-1]
		refused := 0
		goOn := func(what string, now []*model.Block) {
			lists := newReference(v, now).listsByName()
			for _, p := range pages {
				l := lists[p.list]
				removed := p.last.height > uint32(tip.Height)
				switch {
				case l == nil: // the queried value first occurred in a removed block
				case !removed || what == "the same blocks":
					l.walk(t, db, p.page, behind(l.in(p.page.Descending), p.last.at, p.page.Descending))
				default:
					refused++
					if _, _, err := l.page(db, p.page); code(err) != "cursor_rolled_back" || kind(err) != model.Usage {
						t.Fatalf("%s, %.200s: the cursor after height %d: %v", what, p.list, p.last.height, err)
					}
				}
			}
		}
		rollback(t, db, tip.Point())
		goOn("rolled back", stay)
		appendAll(t, db, other, 7)
		goOn("another branch", append(stay[:18:18], other...))
		if refused == 0 {
			t.Error("no cursor was rejected")
		}
		rollback(t, db, tip.Point())
		appendAll(t, db, gone, 7)
		goOn("the same blocks", blocks)
		consistent(t, db)
	})
}

// A cursor is rejected for another list, and no modified cursor is accepted.
func TestForeignCursorsAreRejected(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 230)).Blocks(20)
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks, 7)
		r := newReference(v, blocks)
		pages, lists := firstPages(t, db, r), r.listsByName()
		bad := func(l *list, p query.Page, what string) {
			t.Helper()
			if _, _, err := l.page(db, p); code(err) != "bad_cursor" || kind(err) != model.Usage {
				t.Fatalf("%.200s, %+v: %s: %v", l.name, p, what, err)
			}
		}
		for i, p := range pages {
			other := pages[(i+1+i%7)%len(pages)]
			if other.list != p.list {
				bad(lists[other.list], query.Page{After: p.page.After, Descending: p.page.Descending}, "of another list")
			}
			bad(lists[p.list], query.Page{After: p.page.After, Descending: !p.page.Descending}, "of the other order")
			if i%20 > 0 {
				continue
			}
			bad(lists[p.list], query.Page{After: p.page.After[1:]}, "cut in front")
			bad(lists[p.list], query.Page{After: p.page.After + "A"}, "longer")
			bad(lists[p.list], query.Page{After: p.page.After + "\n"}, "with a line end")
			bad(lists[p.list], query.Page{After: "tip"}, "a word")
			raw, err := base64.RawURLEncoding.DecodeString(p.page.After)
			if err != nil {
				t.Fatal(err)
			}
			for bit := range len(raw) * 8 {
				raw[bit/8] ^= 1 << (bit % 8)
				p.page.After = base64.RawURLEncoding.EncodeToString(raw)
				bad(lists[p.list], p.page, fmt.Sprintf("bit %d is another", bit))
				raw[bit/8] ^= 1 << (bit % 8)
			}
			for n := range raw {
				p.page.After = base64.RawURLEncoding.EncodeToString(raw[:n])
				if n > 0 {
					bad(lists[p.list], p.page, fmt.Sprintf("cut to %d bytes", n))
				}
			}
		}
		consistent(t, db)
	})
}
