package electrum

import (
	"birthmark/model"
)

const (
	headerBytes = 80
	maxHeaders  = 2016 // of an answer; clients expect at least that many
)

// subscribeHeaders answers the tip, and subscribes to its changes.
func (m *moment) subscribeHeaders(*args) error {
	if err := m.headersTip(nil); err != nil {
		return err
	}
	if !m.headers {
		if !m.client.subscribe(1) {
			return m.tooManySubscriptions()
		}
		m.Observer.Subscribed(1)
		m.headers = true
	}
	m.tip = m.view.Tip
	m.hub.join(m.conn, false, m.since)
	return nil
}

// headersTip answers the tip.
func (m *moment) headersTip(*args) error {
	if m.view.Tip.IsOrigin() {
		return &rpcError{codeInternal, "no blocks are indexed yet"}
	}
	return m.appendTip()
}

func (m *moment) blockHeader(a *args) error {
	height, err := a.height(0)
	if err != nil {
		return err
	}
	checkpoint, err := a.height(1)
	if err != nil {
		return err
	}
	header, err := m.view.Header(height)
	if err != nil {
		return outOfRange(height, err)
	}
	if checkpoint == 0 {
		m.out = append(m.out, '"')
		m.out = appendHex(m.out, header)
		m.out = append(m.out, '"')
		return nil
	}
	m.out = append(m.out, `{"header":"`...)
	m.out = appendHex(m.out, header)
	m.out = append(m.out, '"')
	if err := m.appendProof(height, checkpoint); err != nil {
		return err
	}
	m.out = append(m.out, '}')
	return nil
}

func outOfRange(height uint32, err error) error {
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return badRequest("height %d out of range", height)
	}
	return err
}

// appendProof appends the members branch and root.
func (m *moment) appendProof(height, checkpoint uint32) error {
	if int64(checkpoint) > int64(m.view.Tip.Height) || height > checkpoint {
		return badRequest("header height %d must be <= cp_height %d which must be <= chain height %d",
			height, checkpoint, m.view.Tip.Height)
	}
	branch, root, err := m.view.HeaderProof(height, checkpoint)
	if err != nil {
		return err
	}
	m.out = append(m.out, `,"branch":`...)
	m.out = appendHashes(m.out, branch)
	m.out = append(m.out, `,"root":"`...)
	m.out = appendID(m.out, root)
	m.out = append(m.out, '"')
	return nil
}

// blockHeaders answers headers: one string up to version 1.4, an array from 1.6 on.
func (m *moment) blockHeaders(a *args) error {
	start, err := a.height(0)
	if err != nil {
		return err
	}
	count, err := a.number(1, 0)
	if err != nil {
		return err
	}
	checkpoint, err := a.height(2)
	if err != nil {
		return err
	}
	var headers []byte
	if count > 0 && !m.view.Tip.IsOrigin() && int64(start) <= int64(m.view.Tip.Height) {
		if headers, err = m.view.Headers(start, int(min(count, maxHeaders))); err != nil {
			return err
		}
	}
	n := len(headers) / headerBytes
	if m.version.before(version{1, 6}) {
		m.out = append(m.out, `{"hex":"`...)
		m.out = appendHex(m.out, headers)
		m.out = append(m.out, '"')
	} else {
		m.out = append(m.out, `{"headers":[`...)
		for i := range n {
			if i > 0 {
				m.out = append(m.out, ',')
			}
			m.out = append(m.out, '"')
			m.out = appendHex(m.out, headers[i*headerBytes:(i+1)*headerBytes])
			m.out = append(m.out, '"')
		}
		m.out = append(m.out, ']')
	}
	m.out = append(m.out, `,"count":`...)
	m.out = appendUint(m.out, uint64(n))
	m.out = append(m.out, `,"max":`...)
	m.out = appendUint(m.out, maxHeaders)
	if n > 0 && checkpoint > 0 {
		if err := m.appendProof(start+uint32(n)-1, checkpoint); err != nil {
			return err
		}
	}
	m.out = append(m.out, '}')
	return nil
}
