package electrum

import (
	"fmt"
	"math"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// script returns the script that the first parameter names.
func (m *moment) script(a *args) (*wallet.Script, error) {
	key, err := a.script(0)
	if err != nil {
		return nil, err
	}
	return m.view.Script(key)
}

// balance answers the confirmed balance, and the change by unconfirmed transactions, which can be negative.
func (m *moment) balance(a *args) error {
	s, err := m.script(a)
	if err != nil {
		return err
	}
	confirmed, mempool, err := s.Stats()
	if err != nil {
		return err
	}
	m.out = append(m.out, `{"confirmed":`...)
	m.out = appendInt(m.out, int64(confirmed.FundedSum-confirmed.SpentSum))
	m.out = append(m.out, `,"unconfirmed":`...)
	m.out = appendInt(m.out, int64(mempool.FundedSum-mempool.SpentSum))
	m.out = append(m.out, '}')
	return nil
}

// history answers the confirmed transactions in chain order, then those of the mempool. With to_height it answers the
// confirmed ones of from_height <= height < to_height; -1 stands for no limit.
func (m *moment) history(a *args) error {
	s, err := m.script(a)
	if err != nil {
		return err
	}
	from, err := a.height(1)
	if err != nil {
		return err
	}
	to := uint32(math.MaxUint32)
	if v := string(a.values[2]); v != "-1" && v != "" && v != "null" {
		if to, err = a.height(2); err != nil {
			return err
		}
	}
	entries := s.History(nil, false)
	if from > 0 || to < math.MaxUint32 {
		entries = s.HistoryBetween(from, to)
	}
	m.out = append(m.out, '[')
	first := true
	for e, err := range entries {
		if err != nil {
			return err
		}
		if !first {
			m.out = append(m.out, ',')
		}
		first = false
		m.out = append(m.out, `{"tx_hash":"`...)
		m.out = appendID(m.out, e.Tx)
		m.out = append(m.out, `","height":`...)
		m.out = appendUint(m.out, uint64(e.Height))
		m.out = append(m.out, '}')
		if err := m.flush(); err != nil {
			return err
		}
	}
	if to == math.MaxUint32 {
		if err := m.appendMempool(s, first); err != nil {
			return err
		}
	}
	m.out = append(m.out, ']')
	return nil
}

// mempool answers the unconfirmed transactions.
func (m *moment) mempool(a *args) error {
	s, err := m.script(a)
	if err != nil {
		return err
	}
	m.out = append(m.out, '[')
	if err := m.appendMempool(s, true); err != nil {
		return err
	}
	m.out = append(m.out, ']')
	return nil
}

// appendMempool appends the unconfirmed transactions: those whose inputs are all confirmed before the others, then by
// hash as it is displayed.
func (m *moment) appendMempool(s *wallet.Script, first bool) error {
	for e := range s.MempoolInStatusOrder() {
		if !first {
			m.out = append(m.out, ',')
		}
		first = false
		m.out = append(m.out, `{"tx_hash":"`...)
		m.out = appendID(m.out, e.Tx)
		m.out = append(m.out, `","height":`...)
		m.out = appendInt(m.out, int64(mempoolHeight(e.UnconfirmedParent)))
		m.out = append(m.out, `,"fee":`...)
		m.out = appendUint(m.out, e.Fee)
		m.out = append(m.out, '}')
		if err := m.flush(); err != nil {
			return err
		}
	}
	return nil
}

// mempoolHeight returns the height of an unconfirmed transaction: 0, or -1 if it spends an unconfirmed one.
func mempoolHeight(unconfirmedParent bool) int {
	if unconfirmedParent {
		return -1
	}
	return 0
}

// unspent answers the outputs that nothing spends, those of the mempool last.
func (m *moment) unspent(a *args) error {
	s, err := m.script(a)
	if err != nil {
		return err
	}
	m.out = append(m.out, '[')
	first := true
	for u, err := range s.Unspent() {
		if err != nil {
			return err
		}
		if !first {
			m.out = append(m.out, ',')
		}
		first = false
		m.out = append(m.out, `{"tx_hash":"`...)
		m.out = appendID(m.out, u.Tx)
		m.out = append(m.out, `","tx_pos":`...)
		m.out = appendUint(m.out, uint64(u.Index))
		m.out = append(m.out, `,"height":`...)
		m.out = appendUint(m.out, uint64(u.Height))
		m.out = append(m.out, `,"value":`...)
		m.out = appendUint(m.out, u.Value)
		m.out = append(m.out, '}')
		if err := m.flush(); err != nil {
			return err
		}
	}
	m.out = append(m.out, ']')
	return nil
}

// firstUse answers the first transaction of a script: null if there is none, height 0 if it is unconfirmed.
func (m *moment) firstUse(a *args) error {
	s, err := m.script(a)
	if err != nil {
		return err
	}
	for e, err := range s.History(nil, false) {
		if err != nil {
			return err
		}
		block, err := m.view.Block(e.Height)
		if err != nil {
			return err
		}
		m.appendFirstUse(block.Hash, e)
		return nil
	}
	if all := s.Mempool(); len(all) > 0 {
		m.appendFirstUse(model.Hash{}, all[0])
		return nil
	}
	m.out = append(m.out, "null"...)
	return nil
}

func (m *moment) appendFirstUse(block model.Hash, e wallet.Entry) {
	m.out = append(m.out, `{"block_hash":"`...)
	m.out = appendID(m.out, block)
	m.out = append(m.out, `","height":`...)
	m.out = appendUint(m.out, uint64(e.Height))
	m.out = append(m.out, `,"tx_hash":"`...)
	m.out = appendID(m.out, e.Tx)
	m.out = append(m.out, `"}`...)
}

// scriptStatus answers the status without a subscription.
func (m *moment) scriptStatus(a *args) error {
	key, err := a.script(0)
	if err != nil {
		return err
	}
	st, err := m.hub.statusOf(m.ctx, m.view, key, m.since)
	m.out = st.append(m.out)
	return err
}

// subscribe answers the status of a script, and subscribes to its changes.
func (m *moment) subscribe(a *args) error {
	key, err := a.script(0)
	if err != nil {
		return err
	}
	_, before := m.subs[key]
	if !before {
		if !m.client.subscribe(1) {
			return m.tooManySubscriptions()
		}
		m.subs[key] = status{}
		m.hub.watch(key, m.conn, m.since)
		m.Observer.Subscribed(1)
	}
	st, err := m.hub.statusOf(m.ctx, m.view, key, m.since)
	if err != nil {
		if !before {
			m.forget(key)
		}
		return err
	}
	m.subs[key] = st
	m.out = st.append(m.out)
	return nil
}

func (m *moment) tooManySubscriptions() error {
	return &rpcError{codeLimit, fmt.Sprintf("your address has %d subscriptions, the limit (electrum.client_subscriptions)", m.ClientSubs)}
}

// unsubscribe answers whether there was a subscription.
func (m *moment) unsubscribe(a *args) error {
	key, err := a.script(0)
	if err != nil {
		return err
	}
	_, ok := m.subs[key]
	if ok {
		m.forget(key)
	}
	m.appendBool(ok)
	return nil
}

func (m *moment) forget(key wallet.Key) {
	delete(m.subs, key)
	m.hub.unwatch(key, m.conn)
	m.client.subscribe(-1)
	m.Observer.Subscribed(-1)
}

func (m *moment) appendBool(is bool) {
	if is {
		m.out = append(m.out, "true"...)
		return
	}
	m.out = append(m.out, "false"...)
}
