package blockbook

import (
	"context"
	"encoding/hex"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// submit sends a transaction in hex to the node. The text of a refusal is the node's.
func (s *Server) submit(ctx context.Context, text string) (any, error) {
	if text == "" {
		return nil, model.Errorf(model.Usage, "bad_tx", "Missing tx blob")
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_tx",
			"the transaction is not hex: expected a serialized transaction as hex digits")
	}
	id, err := s.chain.Submit(ctx, raw, model.SubmitOptions{})
	if err != nil {
		return nil, err
	}
	return result{block.FormatHash(id)}, nil
}
