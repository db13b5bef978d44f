package boxes

import (
	"errors"
	"fmt"

	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/pending"
	"birthmark/core/schema"
	"birthmark/model"
)

// Tx is a parsed transaction. It is immutable.
type Tx struct {
	*sigma.Tx
	ID     model.Hash
	BoxIDs []sigma.ID // of the outputs
	Size   int        // bytes with proofs; 0 for the genesis

	addresses [][]byte // the stored addresses of the outputs; nil for the genesis
}

func (t *Tx) memory() int { return 1024 + 3*t.Size }

func (t *Tx) setIDs() {
	var e sigma.Encoder
	id := sigma.ID(t.ID)
	t.BoxIDs = make([]sigma.ID, len(t.Outputs))
	for i := range t.Outputs {
		t.BoxIDs[i] = e.BoxID(&t.Outputs[i], &id, i)
	}
}

// stored has the parts of a transaction that are in the database or in the mempool. The functions are called if parts of
// its bytes cannot be read.
type stored struct {
	addresses [][]byte // of the outputs
	boxID     func(output int) ([]byte, error)
	boxExists func(sigma.ID) bool
	inputs    func() ([]sigma.ID, error)
	outputs   func() ([]model.Output, error)
}

// parse parses a serialized transaction. If the ends of its variables are not found, it consists of the stored parts:
// its outputs have no height and no registers, and the first unreadable variable has all bytes after it.
func parse(id model.Hash, raw []byte, s stored) (*Tx, error) {
	raw = append([]byte(nil), raw...)
	var inputs []sigma.ID
	tx, err := sigma.ParseTx(raw, sigma.Known{
		TreeSize: func(i int, rest []byte) int { return ergo.KnownTreeSize(s.addresses, i, rest) },
		BoxID: func(i int) (sigma.ID, bool) {
			box, err := s.boxID(i)
			if err != nil || len(box) != len(sigma.ID{}) {
				return sigma.ID{}, false
			}
			return sigma.ID(box), true
		},
		InputID: func(i int) (sigma.ID, bool) {
			if inputs == nil {
				inputs, _ = s.inputs()
			}
			if i >= len(inputs) {
				return sigma.ID{}, false
			}
			return inputs[i], true
		},
		BoxExists: s.boxExists,
	})
	t := &Tx{Tx: tx, ID: id, Size: len(raw), addresses: s.addresses}
	if errors.Is(err, sigma.ErrUnreadable) {
		return t, t.complete(s)
	}
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", id, err)
	}
	if len(tx.Outputs) != len(s.addresses) {
		return nil, fmt.Errorf("transaction %s: its bytes have no outputs with the addresses of the database: run check", id)
	}
	t.setIDs()
	return t, nil
}

// complete adds the inputs and outputs that were not read.
func (t *Tx) complete(s stored) error {
	inputs, err := s.inputs()
	if err != nil {
		return err
	}
	for _, id := range inputs[min(len(t.Inputs), len(inputs)):] {
		t.Inputs = append(t.Inputs, sigma.Input{Box: id})
	}
	outputs, err := s.outputs()
	if err != nil {
		return err
	}
	for i, o := range outputs {
		box := sigma.Box{Value: o.Value, Tree: ergo.AddressTree(s.addresses[i])}
		for _, a := range o.Assets {
			box.Tokens = append(box.Tokens, sigma.Token{ID: sigma.ID(a.ID), Amount: a.Amount})
		}
		id, err := s.boxID(i)
		if err != nil {
			return err
		}
		t.Outputs, t.BoxIDs = append(t.Outputs, box), append(t.BoxIDs, sigma.ID(id))
	}
	return nil
}

// Txs returns transactions of the chain, in the order of pks. Genesis transactions are left out: each has one box.
func (v *View) Txs(pks []model.TxPk) ([]*Tx, error) {
	ids, err := v.Q.TxIDs(pks)
	if err != nil {
		return nil, err
	}
	txs := make([]*Tx, len(pks))
	var missing []int
	first := map[model.TxPk]int{}
	for i, id := range ids {
		if t, known := v.chain.txs.Get(id); known {
			txs[i] = t
		} else if _, again := first[pks[i]]; !again {
			first[pks[i]] = i
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return txs, nil
	}
	unknown := make([]model.TxPk, len(missing))
	for n, i := range missing {
		unknown[n] = pks[i]
	}
	raws, err := v.Q.RawTxs(unknown)
	if err != nil {
		return nil, err
	}
	addresses, err := v.storedAddresses(unknown)
	if err != nil {
		return nil, err
	}
	for n, i := range missing {
		if txs[i], err = parse(ids[i], raws[n], v.stored(unknown[n], ids[i], addresses[n])); err != nil {
			return nil, err
		}
		v.chain.txs.Put(ids[i], txs[i])
	}
	for i := range txs {
		if txs[i] == nil {
			txs[i] = txs[first[pks[i]]]
		}
	}
	return txs, nil
}

// stored returns the stored parts of a transaction, whose outputs have these stored addresses.
func (v *View) stored(pk model.TxPk, id model.Hash, addresses [][]byte) stored {
	return stored{
		addresses: addresses,
		boxID:     func(i int) ([]byte, error) { return v.boxID(pk, i) },
		boxExists: v.boxExists,
		inputs: func() ([]sigma.ID, error) {
			spends, err := v.Q.SpendsOf(pk)
			if err != nil {
				return nil, err
			}
			return v.BoxIDs(spends)
		},
		outputs: func() ([]model.Output, error) {
			refs := make([]model.Input, len(addresses))
			for i := range refs {
				refs[i] = model.Input{Tx: id, Index: uint32(i)}
			}
			found, err := v.Q.Prevouts(refs)
			if err != nil {
				return nil, err
			}
			outputs := make([]model.Output, len(found))
			for i, o := range found {
				if o == nil {
					return nil, fmt.Errorf("output %d of %s is not in the database: run check", i, id)
				}
				outputs[i] = o.Output
			}
			return outputs, nil
		},
	}
}

// boxExists reports whether a box is in the chain or the mempool.
func (v *View) boxExists(id sigma.ID) bool {
	if _, ok, err := v.BoxOf(id); ok || err != nil {
		return true // an error leaves the question open
	}
	for range v.PendingOf(BoxIndex, id[:]) {
		return true
	}
	return false
}

// boxID returns the id of an output of the chain.
func (v *View) boxID(tx model.TxPk, index int) ([]byte, error) {
	pk, err := tx.Utxo(index)
	if err != nil {
		return nil, err
	}
	ids, err := v.BoxIDs([]model.UtxoPk{pk})
	if err != nil {
		return nil, err
	}
	return ids[0][:], nil
}

// storedAddresses returns the stored addresses of the outputs of transactions.
func (v *View) storedAddresses(txs []model.TxPk) ([][][]byte, error) {
	x, err := v.Q.Index(AddressIndex)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(txs))
	var births []model.BirthPk
	for i, tx := range txs {
		from, to := tx.AppendTo(nil), append((tx.Last()).AppendTo(nil), 0)
		for kv, err := range v.Q.R.Scan(schema.FamilyUtxo, from, to, false) {
			if err != nil {
				return nil, err
			}
			pk, err := model.ParseUtxoPk(kv.Key)
			if err != nil {
				return nil, err
			}
			row, err := v.Q.ParseUtxoRow(pk, kv.Value)
			if err != nil {
				return nil, err
			}
			counts[i]++
			found := false
			for _, o := range row.Occurrences {
				if o.Index == x {
					births, found = append(births, o.Birth), true
				}
			}
			if !found {
				return nil, fmt.Errorf("output %v has no address: run check", pk)
			}
		}
	}
	values, err := v.Q.StoredValues(x, births)
	if err != nil {
		return nil, err
	}
	addresses := make([][][]byte, len(txs))
	for i, n := range counts {
		for _, value := range values[:n] {
			addresses[i] = append(addresses[i], append([]byte(nil), value...))
		}
		values = values[n:]
	}
	return addresses, nil
}

// TxOf returns the transaction with an id; ok is false if the chain has none.
func (v *View) TxOf(id model.Hash) (pk model.TxPk, ok bool, err error) {
	found, err := v.Q.TxPks([]model.Hash{id})
	if err != nil || len(found[0]) == 0 || v.Q.IsGenesis(found[0][0]) {
		return 0, false, err
	}
	return found[0][0], true, nil
}

// Address returns the address of an output.
func (v *View) Address(t *Tx, index int) string {
	tree := string(t.Outputs[index].Tree)
	if text, known := v.chain.addresses.Get(tree); known {
		return text
	}
	x := v.Q.Active(AddressIndex)
	var text string
	if t.addresses != nil {
		text = x.Format(t.addresses[index])
	} else {
		text = x.Format(ergo.StoredAddress([]byte(tree)))
	}
	v.chain.addresses.Put(tree, text)
	return text
}

// pendingTx parses an unconfirmed transaction.
func (v *View) pendingTx(t *pending.Tx) (*Tx, error) {
	if tx, known := v.chain.txs.Get(t.ID); known {
		return tx, nil
	}
	raw, err := v.chain.Mempool.Raw(v.Q.Ctx, t)
	if err != nil {
		return nil, err
	}
	at := v.pool.Index(AddressIndex)
	addresses := make([][]byte, t.NumOutputs())
	for i := range addresses {
		addresses[i] = append([]byte(nil), t.Output(i).Key(at)...)
	}
	box := v.pool.Index(BoxIndex)
	tx, err := parse(t.ID, raw, stored{
		addresses: addresses,
		boxID:     func(i int) ([]byte, error) { return t.Output(i).Key(box), nil },
		boxExists: v.boxExists,
		inputs: func() ([]sigma.ID, error) {
			spent := t.Inputs()
			ids := make([]sigma.ID, len(spent))
			for i := range spent {
				copy(ids[i][:], spent[i].Spends().Key(box))
			}
			return ids, nil
		},
		outputs: func() ([]model.Output, error) {
			outputs := make([]model.Output, len(addresses))
			for i := range outputs {
				outputs[i].Value = t.Output(i).Value
				for _, a := range t.Output(i).Assets() {
					outputs[i].Assets = append(outputs[i].Assets, model.Asset{ID: a.ID, Amount: a.Amount.Lo})
				}
			}
			return outputs, nil
		},
	})
	if err == nil {
		v.chain.txs.Put(t.ID, tx)
	}
	return tx, err
}
