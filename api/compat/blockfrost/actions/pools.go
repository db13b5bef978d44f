package actions

import (
	"cmp"
	"slices"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
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
func poolActions(pool string) func(*exchange.Decoded) []poolAction {
	return func(d *exchange.Decoded) (all []poolAction) {
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

// pool returns the pool of the path. One that no certificate names is not found.
func pool(q *exchange.Request) (string, error) {
	id := q.Args[0]
	_, birth, err := birthOf(q, id)
	if err == nil && birth == nil {
		err = exchange.ErrNotFound
	}
	return id, err
}

// Blocks answers the hashes of the blocks that a pool made. A pool of the genesis, which no certificate names, is found if
// it made a block.
func Blocks(q *exchange.Request) error {
	if _, err := q.PoolIndex(); err != nil {
		return err
	}
	id, none := pool(q)
	end := schema.HeightAfter(q.Q.Tip)
	if none != nil {
		for _, err := range q.BlocksOfPool(id, 0, end, false) {
			none = err
			break
		}
		if none != nil {
			return none
		}
	}
	return q.AnswerBlocksOfPool(id, 0, end)
}

// Updates answers the certificates of a pool.
func Updates(q *exchange.Request) error {
	id, err := pool(q)
	if err != nil {
		return err
	}
	found, hashes, err := page(q, id, poolActions(id))
	if err != nil {
		return err
	}
	type update struct {
		TxHash    string `json:"tx_hash"`
		CertIndex int    `json:"cert_index"`
		Action    string `json:"action"`
	}
	all := []update{}
	for i, e := range found {
		action := "registered"
		if e.part.retires != nil {
			action = "deregistered"
		}
		all = append(all, update{hashes[i], e.part.certIndex, action})
	}
	q.Answer = all
	return nil
}

// parameters returns the newest parameters of the pool of the path.
func parameters(q *exchange.Request) (id string, p *contents.Pool, err error) {
	if id, err = pool(q); err != nil {
		return "", nil, err
	}
	p, err = newestOf(q, id)
	return id, p, err
}

// newestOf returns the newest parameters of a pool.
func newestOf(q *exchange.Request, id string) (*contents.Pool, error) {
	for e, err := range entries(q, id, poolActions(id), nil, true) {
		if err != nil {
			return nil, err
		}
		if e.part.retires == nil {
			return contents.ReadPool(e.part.raw, q.NetworkName())
		}
	}
	return nil, exchange.ErrNotFound
}

// Relays answers the relays in the newest certificate of a pool.
func Relays(q *exchange.Request) error {
	_, p, err := parameters(q)
	if err == nil {
		q.Answer = p.Relays
	}
	return err
}

// Metadata answers where the metadata of a pool is. Its contents are outside of the chain: they are null.
func Metadata(q *exchange.Request) error {
	id, p, err := parameters(q)
	if err != nil {
		return err
	}
	if p.Metadata == nil {
		q.Answer = struct{}{}
		return nil
	}
	q.Answer = struct {
		PoolID string `json:"pool_id"`
		Hex    string `json:"hex"`
		contents.PoolMetadata
	}{id, p.Hash, *p.Metadata}
	return nil
}

// registered reports whether a pool was registered before a certificate of a transaction in an epoch.
func registered(q *exchange.Request, id string, tx model.TxPk, certIndex int, epoch uint64) (bool, error) {
	at := &entry[poolAction]{tx: tx}
	d, err := q.DecodeTx(tx)
	if err != nil {
		return false, err
	}
	for i, a := range poolActions(id)(d) {
		if a.certIndex == certIndex {
			at.place = i
		}
	}
	for e, err := range entries(q, id, poolActions(id), at, true) {
		return err == nil && (e.part.retires == nil || *e.part.retires > epoch), err
	}
	return false, nil
}

// New pools are active two epochs after their certificate, changes of others three.
const (
	activeAfterRegistration = 2
	activeAfterUpdate       = 3
)

// TxPoolUpdates answers the certificates of a transaction that register pools.
func TxPoolUpdates(q *exchange.Request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	if _, err := q.Optional(exchange.Subjects, 0); err != nil {
		return err
	}
	type update struct {
		CertIndex int `json:"cert_index"`
		contents.Pool
		ActiveEpoch uint64 `json:"active_epoch"`
	}
	all := []update{}
	for _, a := range poolActions("")(d) {
		if a.retires != nil {
			continue
		}
		epoch, err := q.EpochOf(d.Pk)
		if err != nil {
			return err
		}
		before, err := registered(q, a.pool, d.Pk, a.certIndex, epoch)
		if err != nil {
			return err
		}
		p, err := contents.ReadPool(a.raw, q.NetworkName())
		if err != nil {
			return err
		}
		u := update{a.certIndex, *p, epoch + activeAfterRegistration}
		if before {
			u.ActiveEpoch = epoch + activeAfterUpdate
		}
		if u.Metadata == nil {
			u.Metadata = &contents.PoolMetadata{}
		}
		all = append(all, u)
	}
	q.Answer = all
	return nil
}

// poolState is the last certificate of a pool.
type poolState struct {
	id    string
	first int // its position among the pools in the order of their first registration
	last  entry[poolAction]
}

// states returns all pools in the order of their first registration, and the epoch of the tip. It reads all certificates
// of pools.
func states(q *exchange.Request) (all []*poolState, epoch uint64, err error) {
	if _, err := q.Optional(exchange.Subjects, 0); err != nil {
		return nil, 0, err
	}
	if q.Q.Tip.IsOrigin() {
		return nil, 0, exchange.ErrNotFound
	}
	if err := q.Expensive(); err != nil {
		return nil, 0, err
	}
	tip, err := q.Block(q.Q.Tip.Height)
	if err != nil {
		return nil, 0, err
	}
	if tip.Parsed.Epoch == nil {
		return nil, 0, exchange.NotImplemented("the epochs of a network are known only with its genesis files")
	}
	byID := map[string]*poolState{}
	for _, kind := range []string{contents.RegistersPool, contents.RetiresPool} {
		for e, err := range entries(q, kind, poolActions(""), nil, false) {
			if err != nil {
				return nil, 0, err
			}
			s := byID[e.part.pool]
			if s == nil {
				s = &poolState{id: e.part.pool, first: len(all), last: e}
				byID[s.id], all = s, append(all, s)
			}
			if s.last.before(&e) {
				s.last = e
			}
		}
	}
	return all, *tip.Parsed.Epoch, nil
}

// Pools answers the registered pools in the order of their first registration.
func Pools(q *exchange.Request) error {
	p := q.Page
	ids, err := registeredPools(q)
	q.Answer = exchange.SlicePage(ids, p)
	return err
}

// registeredPools returns the pools that are registered at the tip, in the order of their first registration.
func registeredPools(q *exchange.Request) ([]string, error) {
	all, epoch, err := states(q)
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

// Retired and Retiring answer the pools whose last certificate retires them, in a past or in a later epoch.
func Retired(q *exchange.Request) error  { return retirements(q, false) }
func Retiring(q *exchange.Request) error { return retirements(q, true) }

func retirements(q *exchange.Request, later bool) error {
	p := q.Page
	all, epoch, err := states(q)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s *poolState) bool {
		return s.last.part.retires == nil || (*s.last.part.retires > epoch) != later
	})
	slices.SortFunc(all, func(a, b *poolState) int {
		return cmp.Or(cmp.Compare(*a.last.part.retires, *b.last.part.retires), cmp.Compare(a.last.tx, b.last.tx),
			cmp.Compare(a.last.place, b.last.place))
	})
	type retirement struct {
		PoolID string `json:"pool_id"`
		Epoch  uint64 `json:"epoch"`
	}
	found := []retirement{}
	for _, s := range all {
		found = append(found, retirement{s.id, *s.last.part.retires})
	}
	q.Answer = exchange.SlicePage(found, p)
	return nil
}
