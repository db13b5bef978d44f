package electrum

import (
	"crypto/sha256"

	"birthmark/api/compat/script"
	"birthmark/core/pending"
	"birthmark/model"
)

// outpoint is an output, which may not exist yet.
type outpoint struct {
	tx    model.Hash
	index uint32
}

// pointStatus returns the status of an output.
func (m *moment) pointStatus(o outpoint) (st pointStatus, err error) {
	p, err := m.view.Place(o.tx)
	if isNotFound(err) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	spenders, err := m.view.Spenders(o.tx)
	if err != nil || int64(o.index) >= int64(len(spenders)) {
		return st, err
	}
	st.Funder = heightOf(&p)
	if s := spenders[o.index]; s != nil {
		st.Spender, st.SpenderHeight = script.Hash(s.Tx), heightOf(&s.Place)
	}
	return st, nil
}

func outpointStatus(a *args) answer {
	o := a.outpoint()
	return func(m *moment) (any, error) { return m.pointStatus(o) }
}

// subscribeOutpoint returns the status of an output, and subscribes to its changes. Each event makes the connection
// look at its outputs again: an output is one lookup.
func subscribeOutpoint(a *args) answer {
	o := a.outpoint()
	return func(m *moment) (any, error) {
		st, err := m.pointStatus(o)
		if err != nil {
			return nil, err
		}
		if _, before := m.points[o]; !before {
			if err := m.subscribed(); err != nil {
				return nil, err
			}
		}
		m.points[o] = st
		m.hub.join(m.conn, true, m.since)
		return st, nil
	}
}

// unsubscribeOutpoint returns whether there was a subscription.
func unsubscribeOutpoint(a *args) answer {
	o := a.outpoint()
	return func(m *moment) (any, error) {
		_, ok := m.points[o]
		if ok {
			delete(m.points, o)
			m.unsubscribed()
		}
		return ok, nil
	}
}

// tellOutpoints notifies the client of the outputs whose status changed.
func (m *moment) tellOutpoints() error {
	for o, had := range m.points {
		st, err := m.pointStatus(o)
		if err != nil {
			return err
		}
		if st == had {
			continue
		}
		m.points[o] = st
		tx := script.Hash(o.tx)
		if err := m.tell("blockchain.outpoint.subscribe", &tx, o.index, &st); err != nil {
			return err
		}
	}
	return nil
}

// unspentOutput returns an unspent output, whose height is absent while it is unconfirmed; null if it does not exist or
// is spent.
func unspentOutput(a *args) answer {
	o := a.outpoint()
	return func(m *moment) (any, error) {
		st, err := m.pointStatus(o)
		if err != nil || !st.Funder.is || st.SpenderHeight.is {
			return nil, err
		}
		raw, p, err := m.view.RawTx(o.tx)
		if pending.HasLeft(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		tx, err := script.ParseTx(raw)
		if err != nil {
			return nil, err
		}
		out := tx.TxOut[o.index]
		return &outputValue{optional{p.Confirmed, int64(p.Height)}, script.Hash(sha256.Sum256(out.PkScript)), out.Value}, nil
	}
}
