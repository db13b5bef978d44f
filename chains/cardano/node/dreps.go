package node

import (
	"context"

	"birthmark/chains/cardano/cbor"
)

// DRepState is the state of a representative.
type DRepState struct {
	Registered bool
	Expires    uint64   // the last epoch in which it is active
	Delegators [][]byte // kind and hash of the stake credentials that delegate to it
	Power      uint64   // lovelace, since the last epoch began
}

// DReps returns the states of representatives in their order, and the current epoch. The fixed votes have only a power.
// It returns the errors of Parameters, with Conway in place of Babbage.
func (l *Local) DReps(ctx context.Context, of []DRep) (states []DRepState, epoch uint64, err error) {
	states, at := make([]DRepState, len(of)), map[string]int{}
	credentials, all := [][]byte{}, make([][]byte, len(of))
	for i, d := range of {
		all[i] = d.encode()
		if at[string(all[i])] = i; len(d.Hash) > 0 {
			credentials = append(credentials, all[i])
		}
	}
	err = l.ledgerState(ctx, func(era uint64, ask func([]byte) (*cbor.Walker, error)) error {
		if era < conway {
			return l.unsupported("DReps of an era before Conway")
		}
		w, err := ask([]byte{cbor.Array<<5 | 1, queryEpoch})
		if err != nil {
			return err
		}
		if epoch = w.Uint("epoch"); w.Err != nil {
			return l.badState("epoch", w.Err)
		}
		if len(credentials) > 0 { // the empty set selects all
			if w, err = ask(querySet(queryDReps, credentials)); err != nil {
				return err
			}
			for n := w.Map("DReps"); w.More(&n); {
				key := w.Item("DRep")
				s := readDRepState(w)
				if i, known := at[string(key)]; known {
					states[i] = s
				}
			}
			if w.Err != nil {
				return l.badState("DReps", w.Err)
			}
		}
		if w, err = ask(querySet(queryDRepStakes, all)); err != nil {
			return err
		}
		for n := w.Map("stakes of DReps"); w.More(&n); {
			key, power := w.Item("DRep"), w.Uint("stake of a DRep")
			if i, known := at[string(key)]; known {
				states[i].Power = power
			}
		}
		if w.Err != nil {
			return l.badState("stakes of DReps", w.Err)
		}
		return nil
	})
	return states, epoch, err
}

// readDRepState reads [last active epoch, anchor, deposit, delegators]. Nodes before 10.2 have no delegators.
func readDRepState(w *cbor.Walker) DRepState {
	f := w.Fields("state of a DRep")
	s := DRepState{Registered: true, Expires: f.Uint("epoch")}
	f.Skip("anchor")
	f.Skip("deposit")
	if !f.IsEmpty() {
		in := cbor.Walker{Data: f.Item("delegators")}
		for n := in.Set("delegators"); in.More(&n); {
			s.Delegators = append(s.Delegators, readCredential(&in))
		}
		if in.Err != nil {
			f.Fail("%w", in.Err)
		}
	}
	f.SkipRest()
	f.End()
	return s
}

// readCredential reads [kind, hash], and returns both as bytes.
func readCredential(w *cbor.Walker) []byte {
	f := w.Fields("credential")
	kind, hash := f.Uint("kind of a credential"), f.Bytes("hash of a credential")
	f.End()
	return append([]byte{byte(kind)}, hash...)
}

// encode returns the DRep in CBOR, as a node has it in the keys of its results.
func (d *DRep) encode() []byte {
	if len(d.Hash) == 0 {
		return cbor.AppendUint([]byte{cbor.Array<<5 | 1}, d.Kind)
	}
	return cbor.AppendBytes(cbor.AppendUint([]byte{cbor.Array<<5 | 2}, d.Kind), d.Hash)
}

// querySet returns a query with a set of items.
func querySet(number uint64, items [][]byte) []byte {
	q := cbor.AppendUint([]byte{cbor.Array<<5 | 2}, number)
	q = cbor.AppendHead(cbor.AppendHead(q, cbor.Tag, cbor.TagSet), cbor.Array, uint64(len(items)))
	for _, item := range items {
		q = append(q, item...)
	}
	return q
}
