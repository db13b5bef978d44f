package daemon

import (
	"context"
	"errors"

	"birthmark/api/served"
	"birthmark/internal/config"
	"birthmark/internal/guard"
)

// Watch opens a database for reading, which another process may write, and reads the unconfirmed transactions of its
// node. It follows both until stop is called.
func (h *Host) Watch(ctx context.Context, set *config.Chain) (chain *served.Chain, stop func() error, err error) {
	if err := ReserveMempool(set); err != nil {
		return nil, nil, err
	}
	w, err := h.openReadOnly(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	if w.mempool == nil {
		err := usageError("no_mempool", "%s has no node that lists unconfirmed transactions: "+
			"set node (or BIRTHMARK_NODE) to its URL, such as http://127.0.0.1:8332", w.name)
		return nil, nil, errors.Join(err, w.close())
	}
	chain = w.chain(w.db.Chain())
	ctx, cancel := context.WithCancel(ctx)
	wait := guard.Beside(func() { w.run(ctx) })
	return chain, func() error {
		cancel()
		wait()
		return w.close()
	}, nil
}
