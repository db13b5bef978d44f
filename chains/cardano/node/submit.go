package node

import (
	"context"
	"fmt"

	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// Submit implements [model.Submitter] by local-tx-submission. The node has no limits of fees and of burned amounts.
func (l *Local) Submit(ctx context.Context, raw []byte, o model.SubmitOptions) (id model.Hash, err error) {
	if o != (model.SubmitOptions{}) {
		return id, l.unsupported("a limit of the fee rate or the burned amount")
	}
	if id, err = ledger.HashTx(raw); err != nil {
		return id, rejected(fmt.Sprintf("no transaction: %v", err))
	}
	var refusal []byte
	_, err = query(ctx, l.Source, func(ctx context.Context, c *ouroboros.Conn) (_ struct{}, failed error) {
		var era uint64
		failed = c.State(ctx, func(query func([]byte) ([]byte, error)) (err error) {
			era, err = ouroboros.Era(query)
			return err
		})
		if failed != nil {
			return struct{}{}, failed
		}
		if refusal, failed = c.Submit(ctx, era, raw); failed != nil && ctx.Err() == nil {
			// The transaction is not submitted again: a node refuses one that it has accepted before.
			failed = model.Errorf(model.BadSource, "no_answer", "%w: the node may have accepted the transaction", failed)
		}
		return struct{}{}, failed
	})
	if err == nil && refusal != nil {
		err = rejected(refusalText(refusal))
	}
	return id, err
}

// TestAccept implements [model.Submitter]: nodes of Cardano cannot.
func (l *Local) TestAccept(context.Context, [][]byte, model.SubmitOptions) ([]byte, error) {
	return nil, l.unsupported("a test of transactions")
}

// SubmitPackage implements [model.Submitter]: nodes of Cardano cannot.
func (l *Local) SubmitPackage(context.Context, [][]byte, model.SubmitOptions) ([]byte, error) {
	return nil, l.unsupported("dependent transactions in one request: submit them one after the other")
}

func (l *Local) unsupported(what string) error {
	return model.Errorf(model.NotFound, "unsupported", "%s does not support %s", l.address, what)
}

func rejected(message string) error {
	return model.Errorf(model.Usage, "rejected", "%w", &model.NodeError{Message: message})
}
