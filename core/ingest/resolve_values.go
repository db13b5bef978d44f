package ingest

import (
	"fmt"
	"maps"
	"slices"

	"birthmark/core/cache"
	"birthmark/core/schema"
	"birthmark/model"
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
	w, births := v.w, v.lookups.Births
	pending, duplicate := v.cache.Births(v.lookups)
	if duplicate != nil {
		t, x, value := w.occurrence(v.Indexes, duplicate.At)
		return v.duplicateValue(t, value, x, duplicate.Birth)
	}
	for _, p := range pending {
		t, x, value := w.occurrence(v.Indexes, p.At)
		space := schema.AssetSpace
		if x != nil {
			space = x.Number
		}
		v.pending = append(v.pending, pendingLookup{space, p.Key, value, births[p.At], p.At, t})
	}
	if err := v.lookupPending(); err != nil {
		return err
	}
	w.births = births[:w.keys:w.keys]
	w.assetBirths = make([]model.AssetBirthPk, w.entries)
	for i, birth := range births[w.keys:] {
		w.assetBirths[i] = model.AssetBirthPk{Utxo: birth.Utxo, Index: birth.Ordinal}
	}
	return nil
}

// lookupPending finds the births of pending values: in the database, or at the first pending occurrence. Error:
// bad_block if a value of a one-to-one index occurs twice.
func (v *resolver) lookupPending() error {
	if len(v.pending) == 0 {
		return nil
	}
	first := make(map[cache.Fingerprint]int32, len(v.pending)) // the first occurrence of each value
	bySpace := map[int][]int32{}
	for i := range v.pending {
		d := &v.pending[i]
		if _, met := first[d.key]; !met {
			first[d.key] = int32(i)
			bySpace[d.space] = append(bySpace[d.space], int32(i))
		} else if x := v.once(d.space); x != nil {
			return v.duplicateValue(d.tx, d.value, x, v.pending[first[d.key]].here)
		}
	}
	for _, space := range slices.Sorted(maps.Keys(bySpace)) {
		is := bySpace[space]
		found, err := v.storedBirths(space, is)
		if err != nil {
			return err
		}
		x := v.once(space)
		for k, i := range is {
			d := &v.pending[i]
			birth := d.here
			if found[k] != nil {
				if birth = *found[k]; x != nil {
					return v.duplicateValue(d.tx, d.value, x, birth)
				}
			}
			if v.lookups.Births[d.at] = birth; x == nil {
				v.cache.PutBirth(d.key, birth)
			}
		}
		if x != nil {
			if err := v.checkUncommittedValues(x, is); err != nil {
				return err
			}
		}
	}
	for i := range v.pending {
		d := &v.pending[i]
		v.lookups.Births[d.at] = v.lookups.Births[v.pending[first[d.key]].at]
	}
	return nil
}

// storedBirths returns the births of pending values of a space; nil for a value that the database does not have. Values
// of several indexes often occur together, such as an address and the hash of its script: it first reads the value at
// the birth that another value of the output has, which is half of the reads.
func (v *resolver) storedBirths(space int, is []int32) ([]*model.BirthPk, error) {
	births := make([]*model.BirthPk, len(is))
	_, values, wide := v.BirthFamilies(space)
	var guesses []model.BirthPk
	var of []int // guesses[n] is for is[of[n]]
	for k, i := range is {
		if guess := v.otherBirth(&v.pending[i]); guess != nil && space != schema.AssetSpace && !wide {
			guesses, of = append(guesses, *guess), append(of, k)
		}
	}
	keys := make([][]byte, len(guesses))
	for n := range guesses {
		keys[n] = guesses[n].Utxo.AppendTo(nil)
	}
	rows, err := v.r.GetMany(values, keys)
	if err != nil {
		return nil, err
	}
	for n, row := range rows {
		if k := of[n]; row != nil && string(row) == string(v.pending[is[k]].value) {
			births[k] = &guesses[n]
		}
	}
	var rest [][]byte
	var at []int
	for k, i := range is {
		if births[k] == nil {
			rest, at = append(rest, v.pending[i].value), append(at, k)
		}
	}
	found, err := v.Births(v.r, space, rest)
	for n := range found {
		births[at[n]] = found[n]
	}
	return births, err
}

// otherBirth returns the birth of another value of the output, in an earlier one; nil if none is known.
func (v *resolver) otherBirth(d *pendingLookup) *model.BirthPk {
	if d.at >= v.w.keys {
		return nil
	}
	from, to := v.w.keysWith(d.at)
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

// checkUncommittedValues returns bad_block if the value of one of the pending lookups is, in a one-to-one index, also
// occurs elsewhere in this batch or in an uncommitted one. The caches have such values only during a first sync.
func (v *resolver) checkUncommittedValues(x *schema.Index, is []int32) error {
	wanted := make(map[string]*pendingLookup, len(is))
	for _, i := range is {
		wanted[string(v.pending[i].value)] = &v.pending[i]
	}
	for pk, value := range v.uncommittedValues(x) {
		if d := wanted[string(value)]; d != nil && pk != d.here.Utxo {
			return v.duplicateValue(d.tx, d.value, x, model.BirthPk{Utxo: min(pk, d.here.Utxo)})
		}
	}
	return nil
}
