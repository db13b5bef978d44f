package electrum

import (
	"iter"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
)

// ofScript returns an answer about the script of the first argument.
func ofScript(about func(*moment, *wallet.Script) (any, error)) func(*args) answer {
	return func(a *args) answer {
		key := a.script(0)
		return func(m *moment) (any, error) {
			s, err := m.view.Script(key)
			if err != nil {
				return nil, err
			}
			return about(m, s)
		}
	}
}

// balance returns the confirmed balance, and the change by unconfirmed transactions.
func balance(_ *moment, s *wallet.Script) (any, error) {
	confirmed, mempool, err := s.Stats()
	return &balanceValue{int64(confirmed.FundedSum - confirmed.SpentSum), int64(mempool.FundedSum - mempool.SpentSum)}, err
}

// history returns the confirmed transactions in chain order, then those of the mempool. With to_height it returns the
// confirmed ones of from_height <= height < to_height; -1 stands for no limit.
func history(a *args) answer {
	key, from, to := a.script(0), a.height(1, 0), a.limit(2)
	return func(m *moment) (any, error) {
		s, err := m.view.Script(key)
		if err != nil {
			return nil, err
		}
		return exchange.List(func(yield func(historyValue, error) bool) {
			entries := s.History(nil, false)
			if from > 0 || to < noLimit {
				entries = s.HistoryBetween(from, to)
			}
			for e, err := range entries {
				if !yield(historyValue{Tx: script.Hash(e.Tx), Height: int64(e.Height)}, err) {
					return
				}
			}
			if to == noLimit {
				unconfirmedOf(s)(yield)
			}
		}), nil
	}
}

func mempool(_ *moment, s *wallet.Script) (any, error) { return exchange.List(unconfirmedOf(s)), nil }

// unconfirmedOf yields the unconfirmed transactions: those whose inputs are all confirmed before the others, then by
// hash as it is displayed.
func unconfirmedOf(s *wallet.Script) iter.Seq2[historyValue, error] {
	return func(yield func(historyValue, error) bool) {
		for e := range s.MempoolInStatusOrder() {
			fee := optional{true, int64(e.Fee)}
			if !yield(historyValue{script.Hash(e.Tx), mempoolHeight(e.UnconfirmedParent), fee}, nil) {
				return
			}
		}
	}
}

// unspent returns the outputs that nothing spends, those of the mempool last.
func unspent(_ *moment, s *wallet.Script) (any, error) {
	return exchange.List(func(yield func(unspentValue, error) bool) {
		for u, err := range s.Unspent() {
			if !yield(unspentValue{script.Hash(u.Tx), u.Index, u.Height, u.Value}, err) {
				return
			}
		}
	}), nil
}

// firstUse returns the first transaction of a script; null if the script was never used. An unconfirmed one has height 0.
func firstUse(m *moment, s *wallet.Script) (any, error) {
	for e, err := range s.History(nil, false) {
		if err != nil {
			return nil, err
		}
		block, err := m.view.Block(e.Height)
		if err != nil {
			return nil, err
		}
		return &firstUseValue{script.Hash(block.Hash), e.Height, script.Hash(e.Tx)}, nil
	}
	if all := s.Mempool(); len(all) > 0 {
		return &firstUseValue{Tx: script.Hash(all[0].Tx)}, nil
	}
	return nil, nil
}

// scriptStatus returns the status without a subscription.
func scriptStatus(a *args) answer {
	key := a.script(0)
	return func(m *moment) (any, error) { return m.status(key) }
}

func (m *moment) status(key wallet.Key) (status, error) {
	return m.hub.statusOf(m.ctx, m.view, key, m.since)
}

// subscribe returns the status of a script, and subscribes to its changes.
func subscribe(a *args) answer {
	key := a.script(0)
	return func(m *moment) (any, error) {
		_, before := m.subs[key]
		if !before {
			if err := m.subscribed(); err != nil {
				return nil, err
			}
			m.subs[key] = status{}
			m.hub.watch(key, m.conn, m.since)
		}
		st, err := m.status(key)
		switch {
		case err == nil:
			m.subs[key] = st
		case !before:
			m.forget(key)
		}
		return st, err
	}
}

// unsubscribe returns whether there was a subscription.
func unsubscribe(a *args) answer {
	key := a.script(0)
	return func(m *moment) (any, error) {
		_, ok := m.subs[key]
		if ok {
			m.forget(key)
		}
		return ok, nil
	}
}

func (m *moment) forget(key wallet.Key) {
	delete(m.subs, key)
	m.hub.unwatch(key, m.conn)
	m.unsubscribed()
}

// subscribed counts a subscription, unless the client has too many.
func (m *moment) subscribed() error {
	if !m.client.subscribe(1) {
		return failure(codeLimit, "your address has %d subscriptions, the limit (electrum.client_subscriptions)", m.ClientSubs)
	}
	m.Observer.Subscribed(1)
	return nil
}

func (m *moment) unsubscribed() {
	m.client.subscribe(-1)
	m.Observer.Subscribed(-1)
}

// tellStatus notifies the client of the status of a script if it differs from the one that the client has.
func (m *moment) tellStatus(key wallet.Key) error {
	had, subscribed := m.subs[key]
	if !subscribed {
		return nil
	}
	st, err := m.status(key)
	if err != nil || st == had {
		return err
	}
	m.subs[key] = st
	id := script.Hash(key)
	return m.tell("blockchain.scripthash.subscribe", &id, &st)
}
