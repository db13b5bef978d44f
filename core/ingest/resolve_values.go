package ingest

import (
	"cmp"
	"fmt"
	"slices"

	"birthmark/core/cache"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// pendingLookup is an occurrence of a value that the caches lack and the database may have.
type pendingLookup struct {
	space int
	key   cache.Fingerprint
	value []byte
	here  model.BirthPk // the occurrence, and the birth unless the database has an earlier one
	at    int           // index in Lookups.Births
	tx    *BatchTx
}

// findBirths finds the births of the values and assets of the outputs. Errors: bad_block if a value of a one-to-one
// index occurs twice.
func (v *resolver) findBirths() error {
	batch, births := v.batch, v.lookups.Births
	pending, duplicate := v.cache.Births(v.lookups)
	if duplicate != nil {
		t, x, value := batch.occurrence(v.Indexes, duplicate.At)
		return v.duplicateValue(t, value, x, duplicate.Birth)
	}
	for _, p := range pending {
		t, x, value := batch.occurrence(v.Indexes, p.At)
		space := schema.AssetSpace
		if x != nil {
			space = x.Number
		}
		v.pending = append(v.pending, pendingLookup{space, p.Key, value, births[p.At], p.At, t})
	}
	v.addBurns()
	if err := v.lookupPending(); err != nil {
		return err
	}
	batch.births = births[:batch.keys:batch.keys]
	batch.assetBirths = make([]model.AssetBirthPk, batch.entries)
	for i, birth := range births[batch.keys:] {
		batch.assetBirths[i] = model.AssetBirthPk{Utxo: birth.Utxo, Index: birth.Ordinal}
	}
	return nil
}

// lookupPending finds the births of pending values: in the database, or at the first pending occurrence. Error:
// bad_block if a value of a one-to-one index occurs twice.
func (v *resolver) lookupPending() error {
	if len(v.pending)+len(v.burned.Values) == 0 {
		return nil
	}
	slices.SortFunc(v.pending, func(a, b pendingLookup) int { return cmp.Compare(a.at, b.at) })
	first := make(map[cache.Fingerprint]int32, len(v.pending)) // the first occurrence of each value
	firsts := make([]int32, 0, len(v.pending))
	for i := range v.pending {
		d := &v.pending[i]
		if _, met := first[d.key]; !met {
			first[d.key] = int32(i)
			firsts = append(firsts, int32(i))
		} else if x := v.once(d.space); x != nil {
			return v.duplicateValue(d.tx, d.value, x, v.pending[first[d.key]].here)
		}
	}
	unfound, err := v.findStoredBirths(firsts)
	if err != nil {
		return err
	}
	for _, i := range unfound {
		if d := &v.pending[i]; v.once(d.space) == nil {
			v.cache.PutBirth(d.key, d.here)
		}
	}
	if err := v.checkUncommittedValues(firsts); err != nil {
		return err
	}
	for i := range v.pending {
		d := &v.pending[i]
		v.lookups.Births[d.at] = v.lookups.Births[v.pending[first[d.key]].at]
	}
	return nil
}

// findStoredBirths sets the births of pending values that the database has, and returns the others. Values of several
// indexes often occur together, such as an address and the hash of its script. So it looks up one value per output, and
// compares the others with the values at the same birth, which is half of the reads. Values that differ are looked up in
// a second round.
func (v *resolver) findStoredBirths(is []int32) (unfound []int32, err error) {
	if is, err = v.guessBirths(is); err != nil {
		return nil, err
	}
	leaders, others := make([]int32, 0, len(is)), is[:0:0]
	end := 0 // of the values of the last leader's output
	for _, i := range is {
		if d := &v.pending[i]; d.at < end && v.canGuess(d) {
			others = append(others, i)
		} else if leaders = append(leaders, i); d.at < v.batch.keys {
			_, end = v.batch.keysWith(d.at)
		}
	}
	if unfound, err = v.searchBirths(leaders, &v.burned); err != nil {
		return nil, err
	}
	if others, err = v.guessBirths(others); err != nil {
		return nil, err
	}
	others, err = v.searchBirths(others)
	return append(unfound, others...), err
}

// canGuess reports whether the birth of a value can be that of another value of its output.
func (v *resolver) canGuess(d *pendingLookup) bool {
	_, _, wide := v.BirthFamilies(d.space)
	return !wide
}

// guessBirths sets the births of the values that are born where another value of their output is born, and returns the
// others.
func (v *resolver) guessBirths(is []int32) (unfound []int32, err error) {
	type guess struct {
		i     int32
		birth model.BirthPk
	}
	var spaces []storage.Family
	guesses := map[storage.Family][]guess{}
	for _, i := range is {
		d := &v.pending[i]
		birth := v.otherBirth(d)
		if birth == nil || !v.canGuess(d) {
			unfound = append(unfound, i)
			continue
		}
		_, values, _ := v.BirthFamilies(d.space)
		if guesses[values] == nil {
			spaces = append(spaces, values)
		}
		guesses[values] = append(guesses[values], guess{i, *birth})
	}
	reads := make([]*storage.Read, len(spaces))
	for n, f := range spaces {
		reads[n] = &storage.Read{Family: f}
		for _, g := range guesses[f] {
			reads[n].Keys = append(reads[n].Keys, g.birth.Utxo.AppendTo(nil))
		}
	}
	if err := storage.ReadTogether(v.r, reads...); err != nil {
		return nil, err
	}
	for n, f := range spaces {
		for k, g := range guesses[f] {
			if row := reads[n].Values[k]; row == nil || string(row) != string(v.pending[g.i].value) {
				unfound = append(unfound, g.i)
			} else if err := v.setBirth(g.i, g.birth); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(unfound)
	return unfound, nil
}

// searchBirths sets the births of the values that the database has, and returns the others. It reads more in the same
// calls.
func (v *resolver) searchBirths(is []int32, more ...*schema.BirthLookup) (unfound []int32, err error) {
	var lookups []*schema.BirthLookup
	bySpace := map[int]*schema.BirthLookup{}
	of := map[int][]int32{}
	for _, i := range is {
		d := &v.pending[i]
		l := bySpace[d.space]
		if l == nil {
			l = &schema.BirthLookup{Space: d.space}
			bySpace[d.space], lookups = l, append(lookups, l)
		}
		l.Values, of[d.space] = append(l.Values, d.value), append(of[d.space], i)
	}
	if err := v.FindBirths(v.r, append(lookups, more...)...); err != nil {
		return nil, err
	}
	for _, l := range lookups {
		for k, i := range of[l.Space] {
			if l.Births[k] == nil {
				unfound = append(unfound, i)
			} else if err := v.setBirth(i, *l.Births[k]); err != nil {
				return nil, err
			}
		}
	}
	return unfound, nil
}

// setBirth sets the birth of a pending value that the database has. Error: bad_block if its index is one-to-one.
func (v *resolver) setBirth(i int32, birth model.BirthPk) error {
	d := &v.pending[i]
	if x := v.once(d.space); x != nil {
		return v.duplicateValue(d.tx, d.value, x, birth)
	}
	v.lookups.Births[d.at] = birth
	v.cache.PutBirth(d.key, birth)
	return nil
}

// otherBirth returns the birth of another value of the output, in an earlier one; nil if none is known.
func (v *resolver) otherBirth(d *pendingLookup) *model.BirthPk {
	if d.at >= v.batch.keys {
		return nil
	}
	from, to := v.batch.keysWith(d.at)
	for at := from; at < to; at++ {
		if birth := v.lookups.Births[at]; birth.Utxo < d.here.Utxo && birth.Ordinal == 0 {
			return &birth
		}
	}
	return nil
}

// once returns the index of a space if it is one-to-one; otherwise nil.
func (v *resolver) once(space int) *schema.Index {
	if space == schema.AssetSpace {
		return nil
	}
	if x := v.ByNumber(uint64(space)); x.Kind == model.OneToOne {
		return x
	}
	return nil
}

func (v *resolver) duplicateValue(t *BatchTx, value []byte, x *schema.Index, at model.BirthPk) error {
	return fmt.Errorf("%s: %w", describe(v.Chain, t),
		BadBlock(fmt.Errorf("value %s of %s already occurs at %v", x.Format(value), x.Name, at)))
}

// checkUncommittedValues returns bad_block if the value of one of the pending lookups is in a one-to-one index and also
// occurs elsewhere in this batch or in an uncommitted one. The caches have such values only during a first sync.
func (v *resolver) checkUncommittedValues(is []int32) error {
	wanted := map[*schema.Index]map[string]*pendingLookup{}
	for _, i := range is {
		d := &v.pending[i]
		if x := v.once(d.space); x != nil {
			if wanted[x] == nil {
				wanted[x] = map[string]*pendingLookup{}
			}
			wanted[x][string(d.value)] = d
		}
	}
	for _, x := range v.Indexes {
		if wanted[x] == nil {
			continue
		}
		for pk, value := range v.uncommittedValues(x) {
			if d := wanted[x][string(value)]; d != nil && pk != d.here.Utxo {
				return v.duplicateValue(d.tx, d.value, x, model.BirthPk{Utxo: min(pk, d.here.Utxo)})
			}
		}
	}
	return nil
}
