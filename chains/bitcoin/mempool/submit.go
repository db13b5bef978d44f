package mempool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Submit implements [model.Submitter] by sendrawtransaction.
func (p *Pool) Submit(ctx context.Context, raw []byte, o model.SubmitOptions) (model.Hash, error) {
	return p.node.Submit(ctx, raw, o)
}

// TestAccept implements [model.Submitter] by testmempoolaccept.
func (p *Pool) TestAccept(ctx context.Context, raws [][]byte, o model.SubmitOptions) ([]byte, error) {
	return p.node.TestAccept(ctx, raws, o)
}

// SubmitPackage implements [model.Submitter] by submitpackage. If the node lacks it, the transactions are submitted one
// after the other up to the first refusal, and the answer has the same format.
func (p *Pool) SubmitPackage(ctx context.Context, raws [][]byte, o model.SubmitOptions) ([]byte, error) {
	answer, err := p.node.SubmitPackage(ctx, raws, o)
	if answer != nil || err != nil {
		return answer, err
	}
	type result struct {
		TxID  string `json:"txid"`
		VSize int    `json:"vsize,omitempty"`
		Error string `json:"error,omitempty"`
	}
	results := map[string]result{} // by the hash of all bytes (BIP 141)
	message := "success"
	for i, raw := range raws {
		id, err := p.format.TxID(raw)
		if err != nil {
			message := fmt.Sprintf("transaction %d of the package: %v", i, err)
			return nil, model.Errorf(model.Usage, "rejected", "%w", &model.NodeError{Code: codeUndecodable, Message: message})
		}
		_, vsize, err := p.format.TxWeight(raw)
		if err != nil {
			return nil, err
		}
		r := result{TxID: block.FormatHash(id), VSize: vsize}
		if message != "success" {
			r.Error = "package-not-validated"
		} else if _, err := p.node.Submit(ctx, raw, o); err != nil {
			refusal, ok := errors.AsType[*model.NodeError](err)
			if !ok {
				return nil, err
			}
			r.Error, message = refusal.Message+" (the node has no submitpackage: each transaction must be acceptable alone)", "transaction failed"
		}
		results[block.FormatHash(block.DoubleHash(raw))] = r
	}
	return json.Marshal(map[string]any{"package_msg": message, "tx-results": results, "replaced-transactions": []string{}})
}

// codeUndecodable is Core's error code of a transaction that cannot be parsed.
const codeUndecodable = -22
