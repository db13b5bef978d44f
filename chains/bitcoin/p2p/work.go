package p2p

import (
	"bytes"
	"runtime"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
)

// checkWork checks the proof of work of headers, if it is not that their hash meets the target: a hash by scrypt takes
// about a millisecond. It uses all processors, without the lock, and skips headers that are known or that cannot be
// added. m keeps the headers before the first invalid one, whose error it returns.
func (r *remote) checkWork(m *wire.MsgHeaders) error {
	check := r.n.o.Format.Work
	if check == nil || len(m.Headers) == 0 {
		return nil
	}
	unknown := len(m.Headers) // from here on
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
				if errs[i] = check(block.Header(raw.Bytes()), nil); errs[i] != nil {
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
