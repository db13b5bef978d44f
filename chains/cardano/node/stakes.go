package node

import (
	"context"

	"birthmark/chains/cardano/cbor"
)

// Stakes are the stakes of the registered pools, in lovelace.
type Stakes struct {
	Pools map[string]PoolStake // by the hash of the pool

	// OptimalPools is the number of pools that the protocol aims at. Supply is the lovelace that is not in the reserves. A
	// pool with Supply/OptimalPools is saturated.
	OptimalPools, Supply uint64
}

// PoolStake is the stake that is delegated to a pool.
type PoolStake struct {
	Live   uint64 // at the node's tip
	Active uint64 // that the leaders of the current epoch are elected by
}

// Stakes returns the stakes of the registered pools. The node sums up all accounts, which takes seconds on mainnet. The
// errors are those of Parameters.
func (l *Local) Stakes(ctx context.Context) (*Stakes, error) {
	s := &Stakes{Pools: map[string]PoolStake{}}
	err := l.ledgerState(ctx, func(era uint64, ask func([]byte) (*cbor.Walker, error)) error {
		if era < babbage {
			return l.unsupported("stakes of an era before Babbage")
		}
		w, err := ask([]byte{cbor.Array<<5 | 1, queryRewardInfo})
		if err != nil {
			return err
		}
		both := w.Fields("stakes of pools")
		f := both.Fields("parameters of rewards")
		s.OptimalPools = f.Uint("number of pools")
		f.Skip("influence of the pledge")
		f.Skip("rewards")
		s.Supply = f.Uint("supply")
		f.End()
		pools := cbor.Walker{Data: both.Item("pools")}
		both.End()
		for n := pools.Map("pools"); pools.More(&n); {
			hash := pools.Bytes("pool")
			f := pools.Fields("stake of a pool")
			s.Pools[string(hash)] = PoolStake{Live: f.Uint("stake")}
			f.SkipRest()
			f.End()
		}
		for _, err := range []error{w.Err, pools.Err} {
			if err != nil {
				return l.badState("stakes of pools", err)
			}
		}
		if w, err = ask([]byte{cbor.Array<<5 | 2, querySnapshots, cbor.Array << 5}); err != nil { // of all pools
			return err
		}
		snapshots := w.Fields("snapshots of stakes")
		pools = cbor.Walker{Data: snapshots.Item("pools")}
		for n := pools.Map("pools"); pools.More(&n); {
			hash := pools.Bytes("pool")
			f := pools.Fields("snapshots of a pool") // mark, set and go: leaders are elected by set
			f.Skip("mark")
			if p, registered := s.Pools[string(hash)]; registered {
				p.Active = f.Uint("set")
				s.Pools[string(hash)] = p
			}
			f.SkipRest()
			f.End()
		}
		snapshots.SkipRest()
		snapshots.End()
		for _, err := range []error{w.Err, pools.Err} {
			if err != nil {
				return l.badState("snapshots of stakes", err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}
