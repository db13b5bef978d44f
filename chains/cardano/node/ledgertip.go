package node

import (
	"context"

	"birthmark/chains/cardano/ouroboros"
)

// LedgerTip returns the newest block of the node, with its slot; the origin before the first one.
func (l *Local) LedgerTip(ctx context.Context) (t ouroboros.Tip, err error) {
	return query(ctx, l.Source, func(ctx context.Context, c *ouroboros.Conn) (t ouroboros.Tip, err error) {
		err = c.State(ctx, func(query func([]byte) ([]byte, error)) error {
			t, err = ouroboros.TipOf(query)
			return err
		})
		return t, err
	})
}
