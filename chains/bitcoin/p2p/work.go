package p2p

import (
	"bytes"
	"runtime"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/guard"
)

// checkWork validates the proof of work of headers, if the coin uses another hash for it than for the ids of blocks. A
// scrypt hash takes about a millisecond, so checkWork uses all processors and does not hold the mutex. It skips headers
// that are in the tree, and all headers if the parent of the first is unknown. If a header is invalid, it returns the
// error and removes this header and those after it from m.
func (r *remote) checkWork(m *wire.MsgHeaders) error {
	check := r.n.o.Format.Work
	if check == nil || len(m.Headers) == 0 {
		return nil
	}
	unknown := len(m.Headers) // the first header that is not in the tree
	r.locked(func() {
		if r.n.tree.find(&m.Headers[0].PrevBlock) == nil {
			return
		}
		unknown = slices.IndexFunc(m.Headers, func(h *wire.BlockHeader) bool {
			hash := h.BlockHash()
			return r.n.tree.find(&hash) == nil
		})
		r.checking = true
	})
	defer r.locked(func() { r.checking = false })
	if unknown < 0 {
		return nil
	}
	headers := m.Headers[unknown:]
	errs := make([]error, len(headers))
	var running sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(headers))
	for w := range workers {
		running.Go(func() {
			for i := w; i < len(headers); i += workers {
				var raw bytes.Buffer
				_ = headers[i].Serialize(&raw) // writing to memory does not fail
				errs[i] = guard.Call(func() error { return check(block.Header(raw.Bytes()), nil) })
				if errs[i] != nil {
					return
				}
			}
		})
	}
	running.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		m.Headers = m.Headers[:unknown+i]
		return errs[i]
	}
	return nil
}
