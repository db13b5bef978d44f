package cache

import "birthmark/model"

// grow adds a quarter more slots, up to the bound.
func (t *table) grow() {
	n := len(t.entries) + len(t.entries)/4
	if len(t.entries) < t.capacity {
		n = min(n, t.capacity)
	}
	n = max(n, leastSlots)
	filled := len(t.entries)
	for ; ; n += slack {
		t.resize(n)
		if t.fits(filled) {
			break
		}
	}
	// Entries move to the end, and from there down to their slots: none is overwritten before it has moved.
	end := n
	for i := filled - 1; i >= 0; i-- {
		if t.entries[i].tag != 0 {
			end--
			t.move(end, i)
		}
	}
	t.rehash(end)
}

// fits reports whether the entries among the first filled slots have room at their homes.
func (t *table) fits(filled int) bool {
	next := 0
	for i := range filled {
		if tag := t.entries[i].tag; tag != 0 {
			next = max(next, t.home(tag)) + 1
		}
	}
	return next <= len(t.entries)
}

// rehash moves the entries from slot first on, which are after their homes, to their homes.
func (t *table) rehash(first int) {
	next := 0
	for i := first; i < len(t.entries); i++ {
		tag := t.entries[i].tag
		if tag == 0 {
			continue
		}
		next = max(next, t.home(tag))
		t.move(next, i)
		next++
	}
}

// retain drops the entries for which the function is false.
func (t *table) retain(want func(pk uint64) bool) {
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && !want(e.pk) {
			t.rewrite(len(t.entries), want)
			return
		}
	}
}

// rewrite shrinks the table to n slots and drops the entries for which the function is false. Each entry moves down to
// its slot or stays, so none is overwritten before it has moved.
func (t *table) rewrite(n int, want func(pk uint64) bool) {
	before := t.entries
	t.entries = before[:n] // home depends on it
	var left []entry       // entries without room at the end; they lose their words
	next := 0
	for i := range before {
		e := before[i]
		if e.tag == 0 {
			continue
		}
		if !want(e.pk) {
			before[i] = entry{}
			t.dropOverflow(&e)
			t.used--
			continue
		}
		if next = max(next, t.home(e.tag)); next >= n {
			before[i] = entry{}
			left = append(left, e)
			continue
		}
		if next != i {
			before[next], before[i] = e, entry{}
			if t.words > 0 {
				copy(t.at(next), t.at(i))
			}
		}
		next++
	}
	t.resize(n)
	t.used -= len(left)
	for _, e := range left {
		t.insert(e.tag, e.rest&t.mask(), e.pk, t.number(&e), nil)
	}
}

func (t *table) clear() {
	t.entries, t.side, t.used = nil, nil, 0
	t.memory.Resize(0)
	t.sideMem.Resize(0)
	clear(t.overflow)
}

// dropFrom drops entries that point to first or later.
func (t *table) dropFrom(first model.UtxoPk) {
	t.retain(func(pk uint64) bool { return pk < uint64(first) })
}
