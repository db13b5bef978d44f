package electrum

import (
	"errors"
	"time"

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
		err := c.notifyChanges()
		if kind, _ := model.KindOf(err); kind == model.Refused { // such as too little memory
			c.wakeUp(false)
			err = c.wait(notifyRetry)
		}
		if err == nil {
			err = c.rest()
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

// notifyRetry is the time after which notifications are tried again.
const notifyRetry = time.Second

// notifyChanges writes what changed since the last notifications, all from one view: first the tip, then statuses.
func (c *conn) notifyChanges() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.newMoment()
	defer m.end()
	dirty := c.takeDirty()
	err := c.chain.View(m.ctx, func(v *wallet.View) error {
		left, err := m.enter(v)
		if err != nil {
			return err
		}
		if left {
			c.addSubscribed(dirty)
		}
		for key := range dirty {
			if err := m.tellStatus(key); err != nil {
				return err
			}
			delete(dirty, key)
		}
		return m.tellOutpoints()
	})
	if err == nil {
		return c.flush()
	}
	for key := range dirty {
		c.markDirty(key)
	}
	if !c.left && !errors.Is(err, errCost) && c.ctx.Err() == nil {
		c.Log.Warn("electrum: cannot notify a client", "client", c.from, "error", err)
	}
	return c.excess(err) // the client gets everything when it connects again
}

// tell notifies the client.
func (m *moment) tell(method string, params ...any) error {
	if err := m.meter.Err(); err != nil { // a part was read
		return err
	}
	m.out.JSON = appendNotification(m.out.JSON, method, params)
	m.Observer.Notified(method)
	return m.send(true)
}

// takeDirty returns the subscribed scripts that may have changed.
func (c *conn) takeDirty() map[wallet.Key]struct{} {
	c.dirtyMu.Lock()
	defer c.dirtyMu.Unlock()
	dirty := c.dirty
	if c.dirtyAll {
		c.addSubscribed(dirty)
	}
	c.dirty, c.dirtyAll = map[wallet.Key]struct{}{}, false
	return dirty
}

// addSubscribed adds all subscribed scripts.
func (c *conn) addSubscribed(dirty map[wallet.Key]struct{}) {
	for key := range c.subs {
		dirty[key] = struct{}{}
	}
}

func (c *conn) wakeUp(all bool) {
	if all {
		c.dirtyMu.Lock()
		c.dirtyAll = true
		c.dirtyMu.Unlock()
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) markDirty(key wallet.Key) {
	c.dirtyMu.Lock()
	c.dirty[key] = struct{}{}
	c.dirtyMu.Unlock()
	c.wakeUp(false)
}
