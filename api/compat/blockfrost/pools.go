package blockfrost

import (
	"cmp"
	"encoding/hex"
	"iter"
	"math/big"
	"slices"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano/address"
	"birthmark/core/schema"
	"birthmark/model"
)

// poolAction is a certificate that registers, updates or retires a pool.
type poolAction struct {
	pool      string
	certIndex int
	retires   *uint64 // the epoch; nil: it registers or updates
	raw       string
}

// poolActions returns the certificates of a pool; of all pools if it is empty.
func poolActions(pool string) func(*decoded) []poolAction {
	return func(d *decoded) (all []poolAction) {
		for i, c := range d.Details.Certificates {
			if pool != "" && c.Pool != pool {
				continue
			}
			switch {
			case c.Type == contents.RegistersPool:
				all = append(all, poolAction{c.Pool, i, nil, c.Raw})
			case c.Type == contents.RetiresPool && c.Epoch != nil:
				all = append(all, poolAction{c.Pool, i, c.Epoch, c.Raw})
			}
		}
		return all
	}
}

// poolBlocks answers the hashes of the blocks that a pool made. A pool of the genesis, which no certificate names, is
// found if it made a block.
func poolBlocks(v *view) (any, error) {
	if _, err := v.poolIndex(); err != nil {
		return nil, err
	}
	id, none := v.named("pool_id")
	end := schema.HeightAfter(v.Q.Tip)
	if none != nil {
		for _, err := range v.blocksOfPool(id, 0, end, false) {
			none = err
			break
		}
		if none != nil {
			return nil, none
		}
	}
	return v.pageOfPoolBlocks(id, 0, end)
}

// poolUpdates answers the certificates of a pool.
func poolUpdates(v *view) (any, error) {
	id, err := v.named("pool_id")
	if err != nil {
		return nil, err
	}
	return listOf(v, id, poolActions(id), func(e *entry[poolAction]) poolUpdateValue {
		action := "registered"
		if e.part.retires != nil {
			action = "deregistered"
		}
		return poolUpdateValue{e.hash, e.part.certIndex, action}
	})
}

// pool returns the newest parameters of the pool of the path.
func (v *view) pool() (*contents.Pool, error) {
	id, err := v.named("pool_id")
	if err != nil {
		return nil, err
	}
	return newestPool(v, id)
}

// newestPool returns the newest parameters of a pool.
func newestPool(v *view, id string) (*contents.Pool, error) {
	for e, err := range entriesOf(v, id, poolActions(id), nil, true) {
		if err != nil {
			return nil, err
		}
		if e.part.retires == nil {
			return contents.ReadPool(e.part.raw, v.addressNetwork())
		}
	}
	return nil, errNotFound
}

// poolRelays answers the relays in the newest certificate of a pool.
func poolRelays(v *view) (any, error) {
	p, err := v.pool()
	if err != nil {
		return nil, err
	}
	return p.Relays, nil
}

// poolMetadata answers where the metadata of a pool is. Its contents are outside of the chain: they are null.
func poolMetadata(v *view) (any, error) {
	p, err := v.pool()
	if err != nil {
		return nil, err
	}
	if p.Metadata == nil {
		return struct{}{}, nil
	}
	return &poolMetadataValue{p.ID, p.Hash, p.Metadata}, nil
}

// wasRegistered reports whether a pool was registered before a certificate of a transaction in an epoch.
func wasRegistered(v *view, id string, tx model.TxPk, certIndex int, epoch uint64) (bool, error) {
	at := &entry[poolAction]{tx: tx}
	d, err := v.decodeTx(tx)
	if err != nil {
		return false, err
	}
	for i, a := range poolActions(id)(d) {
		if a.certIndex == certIndex {
			at.place = i
		}
	}
	for e, err := range entriesOf(v, id, poolActions(id), at, true) {
		return err == nil && (e.part.retires == nil || *e.part.retires > epoch), err
	}
	return false, nil
}

// New pools are active two epochs after their certificate, changes of others three.
const (
	activeAfterRegistration = 2
	activeAfterUpdate       = 3
)

// txPoolUpdates answers the certificates of a transaction that register pools.
func txPoolUpdates(v *view, d *decoded) (any, error) {
	if _, err := v.optional(Subjects, 0); err != nil {
		return nil, err
	}
	all := []txPoolUpdateValue{}
	for _, a := range poolActions("")(d) {
		if a.retires != nil {
			continue
		}
		epoch, err := v.epochAt(d.Pk.Height())
		if err != nil {
			return nil, err
		}
		before, err := wasRegistered(v, a.pool, d.Pk, a.certIndex, epoch)
		if err != nil {
			return nil, err
		}
		p, err := contents.ReadPool(a.raw, v.addressNetwork())
		if err != nil {
			return nil, err
		}
		u := txPoolUpdateValue{a.certIndex, *p, epoch + activeAfterRegistration}
		if before {
			u.ActiveEpoch = epoch + activeAfterUpdate
		}
		if u.Metadata == nil {
			u.Metadata = &contents.PoolMetadata{}
		}
		all = append(all, u)
	}
	return all, nil
}

// poolState is the last certificate of a pool.
type poolState struct {
	id   string
	last entry[poolAction]
}

// poolStates returns all pools in the order of their first registration, and the epoch of the tip. It reads all
// certificates of pools.
func poolStates(v *view) (all []*poolState, epoch uint64, err error) {
	if _, err := v.optional(Subjects, 0); err != nil {
		return nil, 0, err
	}
	if v.Q.Tip.IsOrigin() {
		return nil, 0, errNotFound
	}
	if epoch, err = v.epochAt(v.Q.Tip.Height); err != nil {
		return nil, 0, err
	}
	byID := map[string]*poolState{}
	for _, kind := range []string{contents.RegistersPool, contents.RetiresPool} {
		for e, err := range entriesOf(v, kind, poolActions(""), nil, false) {
			if err != nil {
				return nil, 0, err
			}
			s := byID[e.part.pool]
			if s == nil {
				s = &poolState{id: e.part.pool, last: e}
				byID[s.id], all = s, append(all, s)
			}
			if s.last.before(&e) {
				s.last = e
			}
		}
	}
	return all, epoch, nil
}

// pools answers the registered pools in the order of their first registration.
func pools(v *view) (any, error) {
	ids, err := registeredPools(v)
	return slicePage(ids, v.page), err
}

// registeredPools returns the pools that are registered at the tip, in the order of their first registration.
func registeredPools(v *view) ([]string, error) {
	all, epoch, err := poolStates(v)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, s := range all {
		if s.last.part.retires == nil || *s.last.part.retires > epoch {
			ids = append(ids, s.id)
		}
	}
	return ids, nil
}

// retiredPools and retiringPools answer the pools whose last certificate retires them, in a past or in a later epoch.
func retiredPools(v *view) (any, error)  { return retirements(v, false) }
func retiringPools(v *view) (any, error) { return retirements(v, true) }

func retirements(v *view, later bool) (any, error) {
	all, epoch, err := poolStates(v)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s *poolState) bool {
		return s.last.part.retires == nil || (*s.last.part.retires > epoch) != later
	})
	slices.SortFunc(all, func(a, b *poolState) int {
		return cmp.Or(cmp.Compare(*a.last.part.retires, *b.last.part.retires), cmp.Compare(a.last.tx, b.last.tx),
			cmp.Compare(a.last.place, b.last.place))
	})
	found := []retirementValue{}
	for _, s := range slicePage(all, v.page) {
		found = append(found, retirementValue{s.id, *s.last.part.retires})
	}
	return found, nil
}

// poolsExtended answers the registered pools with their stakes at the tip of the node, in the order of their first
// registration.
func poolsExtended(v *view) (any, error) {
	n, err := v.ledger()
	if err != nil {
		return nil, err
	}
	made, err := v.poolIndex()
	if err != nil {
		return nil, err
	}
	ids, err := registeredPools(v)
	if err != nil {
		return nil, err
	}
	tip, _ := v.Chain.Moved()
	stakes, err := v.stakes.at(v.ctx(), tip, n.Stakes)
	if err != nil {
		return nil, unlessUnsupported(err)
	}
	all := []extendedPoolValue{}
	for _, id := range slicePage(ids, v.page) {
		newest, err := newestPool(v, id)
		if err != nil {
			return nil, err
		}
		hash, err := address.ParsePool(id)
		if err != nil {
			return nil, err
		}
		blocks := 0
		for _, err := range made.BlocksWith(v.Q.R, hash, 0, schema.HeightAfter(v.Q.Tip), false) {
			if err == nil && blocks%longSkip == 0 {
				err = v.ctx().Err()
			}
			if err != nil {
				return nil, err
			}
			blocks++
		}
		stake := stakes.Pools[string(hash)]
		saturation := 0.0
		if stakes.Supply > 0 {
			share := new(big.Int).Mul(bigInt(stake.Live), bigInt(stakes.OptimalPools))
			saturation, _ = new(big.Rat).SetFrac(share, bigInt(stakes.Supply)).Float64()
		}
		all = append(all, extendedPoolValue{
			id, hex.EncodeToString(hash), decimal(stake.Active), decimal(stake.Live), blocks, saturation,
			newest.Pledge, newest.MarginCost, newest.FixedCost, newest.Metadata,
		})
	}
	return all, nil
}

// blocksOfPool yields the blocks that a pool made, from <= height < to. Without the index of pools it reads the headers
// of all blocks in between.
func (v *view) blocksOfPool(pool string, from, to model.HeightPk, descending bool) iter.Seq2[model.HeightPk, error] {
	heights := between(from, to, descending)
	if x, err := v.poolIndex(); err == nil {
		hash, err := address.ParsePool(pool)
		if err != nil {
			return func(yield func(model.HeightPk, error) bool) { yield(0, errPool) }
		}
		heights = x.BlocksWith(v.Q.R, hash, from, to, descending)
	}
	return func(yield func(model.HeightPk, error) bool) {
		for h, err := range heights {
			if err == nil {
				err = v.ctx().Err()
			}
			var row *blockRow
			if err == nil {
				row, err = v.blockAt(h)
			}
			if err == nil && v.leader(row) != pool {
				continue // also if a genesis delegate has the key of a pool
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// between yields all heights from <= height < to.
func between(from, to model.HeightPk, descending bool) iter.Seq2[model.HeightPk, error] {
	return func(yield func(model.HeightPk, error) bool) {
		for i := range to - min(from, to) {
			h := from + i
			if descending {
				h = to - 1 - i
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

// pageOfPoolBlocks answers a page of the hashes of the blocks that a pool made, from <= height < to.
func (v *view) pageOfPoolBlocks(pool string, from, to model.HeightPk) (any, error) {
	p := v.page
	found, err := pageOf(v, func(after *model.HeightPk) iter.Seq2[model.HeightPk, error] {
		first, end := from, to
		if after != nil && p.descending {
			end = *after
		} else if after != nil {
			first = *after + 1
		}
		return v.blocksOfPool(pool, first, end, p.descending)
	})
	if err != nil {
		return nil, err
	}
	rows, err := v.Q.BlockRows(found)
	hashes := make([]string, len(rows))
	for i := range rows {
		hashes[i] = rows[i].Hash.String()
	}
	return hashes, err
}
