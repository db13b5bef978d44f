package electrum

import (
	"errors"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// notify writes notifications until the connection ends. An error ends the connection.
func (c *conn) notify() {
	for {
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
		if c.pause() != nil {
			return
		}
		if err := c.notifyChanges(); err != nil {
			c.end(err)
			return
		}
	}
}

// notifyChanges writes what changed since the last notifications, all from one view: first the tip, then statuses.
func (c *conn) notifyChanges() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.newMoment()
	defer m.end()
	defer m.count(later{c})()
	dirty := c.takeDirty()
	err := c.chain.View(m.ctx, func(v *wallet.View) error {
		left, err := m.enter(v)
		if err == nil {
			err = m.tellTip()
		}
		if err != nil {
			return err
		}
		if left {
			for key := range c.subs {
				dirty[key] = struct{}{}
			}
		}
		for key := range dirty {
			if err := m.tellStatus(key); err != nil {
				return err
			}
		}
		return m.tellOutpoints()
	})
	if err != nil {
		if !c.left && !errors.Is(c.ctx.Err(), err) {
			c.Log.Warn("electrum: cannot notify a client", "client", c.from, "error", err)
		}
		return err // the client gets everything when it connects again
	}
	return c.flush()
}

// takeDirty returns the subscribed scripts that may have changed.
func (c *conn) takeDirty() map[wallet.Key]struct{} {
	c.dirtyMu.Lock()
	defer c.dirtyMu.Unlock()
	dirty := c.dirty
	if c.dirtyAll {
		for key := range c.subs {
			dirty[key] = struct{}{}
		}
	}
	c.dirty, c.dirtyAll = map[wallet.Key]struct{}{}, false
	return dirty
}

// tellTip notifies the client of the tip of the view, if the client subscribed to headers and has another tip.
func (m *moment) tellTip() error {
	c := m.conn
	if !c.headers || c.tip == m.view.Tip {
		return nil
	}
	if m.view.Tip.IsOrigin() {
		return nil // everything was rolled back, which cannot be expressed
	}
	c.out = append(c.out[:0], `{"jsonrpc":"2.0","method":"blockchain.headers.subscribe","params":[`...)
	if err := m.appendTip(); err != nil {
		return err
	}
	c.out = append(c.out, "]}"...)
	c.tip = m.view.Tip
	c.Observer.Notified("blockchain.headers.subscribe")
	return c.send(true)
}

// appendTip appends the tip of the view: {"hex":…,"height":…}.
func (m *moment) appendTip() error {
	header, err := m.view.Header(uint32(m.view.Tip.Height))
	if err != nil {
		return err
	}
	m.out = append(m.out, `{"hex":"`...)
	m.out = appendHex(m.out, header)
	m.out = append(m.out, `","height":`...)
	m.out = appendUint(m.out, uint64(m.view.Tip.Height))
	m.out = append(m.out, '}')
	return nil
}

// tellStatus notifies the client of the status of a script if it differs from the one that the client has.
func (m *moment) tellStatus(key wallet.Key) error {
	c := m.conn
	had, subscribed := c.subs[key]
	if !subscribed {
		return nil
	}
	st, err := c.hub.statusOf(m.ctx, m.view, key, m.since)
	if err != nil || st == had {
		return err
	}
	c.subs[key] = st
	c.out = append(c.out[:0], `{"jsonrpc":"2.0","method":"blockchain.scripthash.subscribe","params":["`...)
	c.out = appendID(c.out, model.Hash(key))
	c.out = append(c.out, `",`...)
	c.out = st.append(c.out)
	c.out = append(c.out, "]}"...)
	c.Observer.Notified("blockchain.scripthash.subscribe")
	return c.send(true)
}

// append appends the status as JSON.
func (s status) append(b []byte) []byte {
	if !s.used {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = appendHex(b, s.hash[:])
	return append(b, '"')
}
