package electrum

import (
	"encoding/json"
	"fmt"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/jsonappend"
	"birthmark/model"
)

// transaction returns a serialized transaction in hex, or the object of Bitcoin Core's getrawtransaction.
func transaction(a *args) answer {
	id, verbose := a.tx(0), a.flag(1)
	return func(m *moment) (any, error) {
		raw, place, err := m.view.RawTx(id)
		if err != nil {
			return nil, unknownTx(id, err)
		}
		if !verbose {
			return script.Hex(raw), nil
		}
		return m.view.VerboseTx(raw, &place)
	}
}

// confirmed returns where a confirmed transaction is.
func (m *moment) confirmed(id model.Hash) (wallet.Place, error) {
	p, err := m.view.Place(id)
	switch {
	case err != nil:
		return p, unknownTx(id, err)
	case !p.Confirmed:
		return p, unconfirmed(id)
	}
	return p, nil
}

// merkle returns the Merkle branch of a confirmed transaction. The height, which is optional, must be that of its
// block.
func merkle(a *args) answer {
	at, id := a.number(1, -1), a.tx(0)
	return func(m *moment) (any, error) {
		p, err := m.confirmed(id)
		switch {
		case err != nil:
			return nil, err
		case at >= 0 && at != int64(p.Height):
			return nil, badRequest("tx %s not in block at height %d", display(id), at)
		}
		branch, err := m.view.MerkleBranch(p.Height, p.Position)
		return &merkleValue{p.Height, script.Hashes(branch), p.Position}, err
	}
}

// idFromPos returns the transaction at a position of a block, with its Merkle branch on request.
func idFromPos(a *args) answer {
	at, position, proof := a.height(0, 0), a.number(1, 0), a.flag(2)
	return func(m *moment) (any, error) {
		ids, err := m.view.TxIDs(at)
		switch {
		case err != nil:
			return nil, outOfRange(at, err)
		case position >= int64(len(ids)):
			return nil, badRequest("no tx at position %d in block at height %d", position, at)
		case !proof:
			return script.Hash(ids[position]), nil
		}
		branch, err := m.view.MerkleBranch(at, int(position))
		return &txAtValue{script.Hash(ids[position]), script.Hashes(branch)}, err
	}
}

// txHeight returns the height of a transaction: that of its block, 0 if it is unconfirmed, null if it is unknown.
func txHeight(a *args) answer {
	id := a.tx(0)
	return func(m *moment) (any, error) {
		p, err := m.view.Place(id)
		if isNotFound(err) {
			return nil, nil
		}
		return p.Height, err
	}
}

// confirmedBlock returns the block of a confirmed transaction, with its header on request.
func confirmedBlock(a *args) answer {
	withHeader, id := a.flag(1), a.tx(0)
	return func(m *moment) (any, error) {
		p, err := m.confirmed(id)
		if err != nil {
			return nil, err
		}
		v := &confirmedBlockValue{Block: script.Hash(p.BlockHash), Height: p.Height}
		if withHeader {
			header, err := m.view.Header(p.Height)
			if err != nil {
				return nil, err
			}
			v.Header = (*script.Hex)(&header)
		}
		return v, nil
	}
}

// broadcast submits a transaction and returns its id.
func broadcast(a *args) answer {
	digits := a.text(0)
	raw, ok := rawTx(digits)
	if !ok {
		a.refuse("raw_tx should be a hex string")
	}
	return func(m *moment) (any, error) {
		if err := m.maySubmit(1); err != nil {
			return nil, err
		}
		id, err := m.chain.Submit(m.ctx, raw, model.SubmitOptions{})
		if isRejected(err) {
			return nil, badRequest("the transaction was rejected by network rules.\n\n%v\n[%s]", err, digits)
		}
		if err != nil {
			return nil, nodeError(err)
		}
		return script.Hash(id), nil
	}
}

func isRejected(err error) bool {
	_, code := model.KindOf(err)
	return err != nil && code == "rejected"
}

// maySubmit returns an error if the client has submitted too many transactions.
func (m *moment) maySubmit(n int) error {
	if m.client.submit(n) {
		return nil
	}
	return failure(codeLimit, "your address may submit %v transactions per minute (submit_limit): retry later", m.SubmitPerMinute)
}

// maxPackage is the number of transactions of a package that nodes accept.
const maxPackage = 25

// broadcastPackage submits dependent transactions, and returns whether all were accepted; verbose: the node's answer.
func broadcastPackage(a *args) answer {
	var texts []string
	if !a.read(0, &texts) || len(texts) == 0 || len(texts) > maxPackage {
		a.refuse("raw_txs should be an array of 1 to %d hex strings", maxPackage)
	}
	verbose := a.flag(1)
	raws := make([][]byte, len(texts))
	for i := range texts {
		var ok bool
		if raws[i], ok = rawTx(texts[i]); !ok {
			a.refuse("transaction %d of raw_txs should be a hex string", i)
		}
	}
	return func(m *moment) (any, error) {
		if err := m.maySubmit(len(raws)); err != nil {
			return nil, err
		}
		answer, err := m.chain.SubmitPackage(m.ctx, raws, model.SubmitOptions{})
		switch {
		case isRejected(err):
			return nil, badRequest("the package was rejected by network rules.\n\n%v", err)
		case err != nil:
			return nil, nodeError(err)
		case verbose:
			return jsonappend.JSON(answer), nil
		}
		return packageOf(answer)
	}
}

// packageOf reads the node's answer to submitpackage.
func packageOf(answer []byte) (*packageValue, error) {
	var results struct {
		Message string `json:"package_msg"`
		Results map[string]struct {
			Tx    text `json:"txid"`
			Error text `json:"error"`
		} `json:"tx-results"`
	}
	if err := json.Unmarshal(answer, &results); err != nil {
		return nil, fmt.Errorf("the node's answer to submitpackage: %w", err)
	}
	v := &packageValue{Success: results.Message == "success"}
	for _, r := range results.Results {
		if r.Error != "" {
			v.Errors = append(v.Errors, r)
		}
	}
	return v, nil
}
