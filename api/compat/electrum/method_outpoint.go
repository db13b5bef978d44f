package electrum

import (
	"crypto/sha256"
	"fmt"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// outpoint is an output, which may not exist yet.
type outpoint struct {
	tx    model.Hash
	index uint32
}

// pointStatus is the status of an output as JSON: version 1.7 of the protocol has the members funder_height,
// spender_txhash and spender_height, each only if it applies. Heights are those of get_history: 0 and -1 are
// unconfirmed.
type pointStatus string

func (a *args) outpoint() (o outpoint, err error) {
	if o.tx, err = a.tx(0); err != nil {
		return o, err
	}
	n, err := a.number(1, 0)
	if err == nil && n >= 1<<32 {
		err = badRequest("%d should be the index of an output", n)
	}
	o.index = uint32(n)
	return o, err
}

// height returns the height of a transaction as get_history has it.
func height(p *wallet.Place) int64 {
	if p.Confirmed {
		return int64(p.Height)
	}
	return int64(mempoolHeight(p.UnconfirmedParent))
}

// pointStatus returns the status of an output.
func (m *moment) pointStatus(o outpoint) (pointStatus, error) {
	p, err := m.view.Place(o.tx)
	if kind, _ := model.KindOf(err); err != nil && kind == model.NotFound {
		return "{}", nil
	}
	if err != nil {
		return "", err
	}
	spenders, err := m.view.Spenders(o.tx)
	if err != nil || int64(o.index) >= int64(len(spenders)) {
		return "{}", err
	}
	b := appendInt([]byte(`{"funder_height":`), height(&p))
	if s := spenders[o.index]; s != nil {
		b = append(b, `,"spender_txhash":"`...)
		b = appendID(b, s.Tx)
		b = append(b, `","spender_height":`...)
		b = appendInt(b, height(&s.Place))
	}
	return pointStatus(append(b, '}')), nil
}

// outpointStatus answers the status of an output.
func (m *moment) outpointStatus(a *args) error {
	o, err := a.outpoint()
	if err != nil {
		return err
	}
	st, err := m.pointStatus(o)
	m.out = append(m.out, st...)
	return err
}

// subscribeOutpoint answers the status of an output, and subscribes to its changes. Each event makes the connection
// look at its outputs again: an output is one lookup.
func (m *moment) subscribeOutpoint(a *args) error {
	o, err := a.outpoint()
	if err != nil {
		return err
	}
	st, err := m.pointStatus(o)
	if err != nil {
		return err
	}
	if _, before := m.points[o]; !before {
		if !m.client.subscribe(1) {
			return m.tooManySubscriptions()
		}
		m.Observer.Subscribed(1)
	}
	m.points[o] = st
	m.hub.join(m.conn, true, m.since)
	m.out = append(m.out, st...)
	return nil
}

// unsubscribeOutpoint answers whether there was a subscription.
func (m *moment) unsubscribeOutpoint(a *args) error {
	o, err := a.outpoint()
	if err != nil {
		return err
	}
	_, ok := m.points[o]
	if ok {
		delete(m.points, o)
		m.client.subscribe(-1)
		m.Observer.Subscribed(-1)
	}
	m.appendBool(ok)
	return nil
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
		m.out = append(m.out[:0], `{"jsonrpc":"2.0","method":"blockchain.outpoint.subscribe","params":["`...)
		m.out = appendID(m.out, o.tx)
		m.out = fmt.Appendf(m.out, `",%d,%s]}`, o.index, st)
		m.Observer.Notified("blockchain.outpoint.subscribe")
		if err := m.send(true); err != nil {
			return err
		}
	}
	return nil
}

// utxo answers an unspent output: its value, script hash and height (absent while it is unconfirmed); null if it does
// not exist or is spent.
func (m *moment) utxo(a *args) error {
	o, err := a.outpoint()
	if err != nil {
		return err
	}
	st, err := m.pointStatus(o)
	if err != nil {
		return err
	}
	p, err := m.view.Place(o.tx)
	if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
		return err
	}
	if err != nil || st == "{}" || st != pointStatus(fmt.Sprintf(`{"funder_height":%d}`, height(&p))) {
		m.out = append(m.out, "null"...)
		return nil
	}
	raw, _, err := m.view.RawTx(o.tx)
	if err != nil {
		return err
	}
	tx, err := script.ParseTx(raw)
	if err != nil {
		return err
	}
	out := tx.TxOut[o.index]
	m.out = append(m.out, '{')
	if p.Confirmed {
		m.out = fmt.Appendf(m.out, `"confirmed_height":%d,`, p.Height)
	}
	m.out = append(m.out, `"scripthash":"`...)
	m.out = appendID(m.out, sha256.Sum256(out.PkScript))
	m.out = fmt.Appendf(m.out, `","value":%d}`, out.Value)
	return nil
}
