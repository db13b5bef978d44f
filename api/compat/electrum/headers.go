package electrum

import (
	"slices"

	"birthmark/api/compat/script"
)

const (
	headerBytes = 80
	maxHeaders  = 2016 // of an answer; clients expect at least that many
)

// tip returns the tip of the view.
func tip(m *moment) (any, error) {
	if m.view.Tip.IsOrigin() {
		return nil, failure(codeInternal, "no blocks are indexed yet")
	}
	header, err := m.view.Header(uint32(m.view.Tip.Height))
	return &tipValue{header, uint32(m.view.Tip.Height)}, err
}

// subscribeHeaders returns the tip, and subscribes to its changes.
func subscribeHeaders(m *moment) (any, error) {
	v, err := tip(m)
	if err != nil {
		return nil, err
	}
	if !m.headers {
		if err := m.subscribed(); err != nil {
			return nil, err
		}
		m.headers = true
	}
	m.conn.tip = m.view.Tip
	m.hub.join(m.conn, false, m.since)
	return v, nil
}

// tellTip notifies the client of the tip of the view, if the client subscribed to headers and has another tip.
func (m *moment) tellTip() error {
	if !m.headers || m.conn.tip == m.view.Tip || m.view.Tip.IsOrigin() { // that everything was rolled back cannot be expressed
		return nil
	}
	v, err := tip(m)
	if err != nil {
		return err
	}
	m.conn.tip = m.view.Tip
	return m.tell("blockchain.headers.subscribe", v)
}

// blockHeader returns a header, with its proof up to a checkpoint on request.
func blockHeader(a *args) answer {
	at, checkpoint := a.height(0, 0), a.height(1, 0)
	return func(m *moment) (any, error) {
		header, err := m.view.Header(at)
		switch {
		case err != nil:
			return nil, outOfRange(at, err)
		case checkpoint == 0:
			return script.Hex(header), nil
		}
		proof, err := m.proof(at, checkpoint)
		return &headerValue{header, proof}, err
	}
}

// proof proves a header up to a checkpoint.
func (m *moment) proof(height, checkpoint uint32) (*proofValue, error) {
	if int64(checkpoint) > int64(m.view.Tip.Height) || height > checkpoint {
		return nil, badRequest("header height %d must be <= cp_height %d which must be <= chain height %d",
			height, checkpoint, m.view.Tip.Height)
	}
	branch, root, err := m.view.HeaderProof(height, checkpoint)
	return &proofValue{script.Hashes(branch), script.Hash(root)}, err
}

// blockHeaders returns headers: one string up to version 1.4, an array from 1.6 on.
func blockHeaders(a *args) answer {
	start, count, checkpoint := a.height(0, 0), a.number(1, 0), a.height(2, 0)
	return func(m *moment) (_ any, err error) {
		var headers []byte
		if count > 0 && !m.view.Tip.IsOrigin() && int64(start) <= int64(m.view.Tip.Height) {
			if headers, err = m.view.Headers(start, int(min(count, maxHeaders))); err != nil {
				return nil, err
			}
		}
		n := headerCount{Count: len(headers) / headerBytes, Max: maxHeaders}
		if n.Count > 0 && checkpoint > 0 {
			if n.proofValue, err = m.proof(start+uint32(n.Count)-1, checkpoint); err != nil {
				return nil, err
			}
		}
		if m.version.before(version{1, 6}) {
			return &oldHeadersValue{headers, n}, nil
		}
		all := make([]script.Hex, 0, n.Count)
		for header := range slices.Chunk(headers, headerBytes) {
			all = append(all, header)
		}
		return &headersValue{all, n}, nil
	}
}
