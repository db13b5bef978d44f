package electrum

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// transaction answers a serialized transaction in hex, or the object of Bitcoin Core's getrawtransaction.
func (m *moment) transaction(a *args) error {
	id, err := a.tx(0)
	if err != nil {
		return err
	}
	verbose, err := a.flag(1)
	if err != nil {
		return err
	}
	raw, place, err := m.view.RawTx(id)
	if err != nil {
		return noTransaction(id, err)
	}
	if !verbose {
		m.out = append(m.out, '"')
		m.out = appendHex(m.out, raw)
		m.out = append(m.out, '"')
		return nil
	}
	var in *script.Confirmation
	if place.Confirmed {
		in = &script.Confirmation{
			Block: place.BlockHash, Confirmations: uint32(m.view.Tip.Height) - place.Height + 1, Time: place.BlockTime,
		}
	}
	m.out, err = script.AppendVerboseTx(m.out, raw, m.chain.Address, in)
	return err
}

// noTransaction returns the error of a transaction that cannot be read. Clients search it for Bitcoin Core's sentence.
func noTransaction(id model.Hash, err error) error {
	if _, code := model.KindOf(err); code == "unknown_tx" {
		return badRequest("No such mempool or blockchain transaction: %s", appendID(nil, id))
	}
	return err
}

// place returns where the transaction of the first parameter is.
func (m *moment) place(a *args) (id model.Hash, p wallet.Place, err error) {
	if id, err = a.tx(0); err != nil {
		return id, p, err
	}
	if p, err = m.view.Place(id); err != nil {
		err = noTransaction(id, err)
	}
	return id, p, err
}

// merkle answers the Merkle branch of a confirmed transaction. The height, which is optional, must be that of its
// block.
func (m *moment) merkle(a *args) error {
	height, err := a.number(1, -1)
	if err != nil {
		return err
	}
	id, p, err := m.place(a)
	if err != nil {
		return err
	}
	if !p.Confirmed {
		return badRequest("transaction %s is not confirmed", appendID(nil, id))
	}
	if height >= 0 && height != int64(p.Height) {
		return badRequest("tx %s not in block at height %d", appendID(nil, id), height)
	}
	branch, err := m.view.MerkleBranch(p.Height, p.Position)
	if err != nil {
		return err
	}
	m.out = append(m.out, `{"block_height":`...)
	m.out = appendUint(m.out, uint64(p.Height))
	m.out = append(m.out, `,"merkle":`...)
	m.out = appendHashes(m.out, branch)
	m.out = append(m.out, `,"pos":`...)
	m.out = appendUint(m.out, uint64(p.Position))
	m.out = append(m.out, '}')
	return nil
}

// idFromPos answers the transaction at a position of a block, with its Merkle branch on request.
func (m *moment) idFromPos(a *args) error {
	height, err := a.height(0)
	if err != nil {
		return err
	}
	position, err := a.number(1, 0)
	if err != nil {
		return err
	}
	proof, err := a.flag(2)
	if err != nil {
		return err
	}
	ids, err := m.view.TxIDs(height)
	if err != nil {
		return outOfRange(height, err)
	}
	if position >= int64(len(ids)) {
		return badRequest("no tx at position %d in block at height %d", position, height)
	}
	if !proof {
		m.out = append(m.out, '"')
		m.out = appendID(m.out, ids[position])
		m.out = append(m.out, '"')
		return nil
	}
	branch, err := m.view.MerkleBranch(height, int(position))
	if err != nil {
		return err
	}
	m.out = append(m.out, `{"tx_hash":"`...)
	m.out = appendID(m.out, ids[position])
	m.out = append(m.out, `","merkle":`...)
	m.out = appendHashes(m.out, branch)
	m.out = append(m.out, '}')
	return nil
}

// txHeight answers the height of a transaction: that of its block, 0 if it is unconfirmed, null if it is unknown.
func (m *moment) txHeight(a *args) error {
	id, err := a.tx(0)
	if err != nil {
		return err
	}
	p, err := m.view.Place(id)
	if kind, _ := model.KindOf(err); err != nil && kind == model.NotFound {
		m.out = append(m.out, "null"...)
		return nil
	}
	m.out = appendUint(m.out, uint64(p.Height))
	return err
}

// confirmedBlock answers the block of a confirmed transaction, with its header on request.
func (m *moment) confirmedBlock(a *args) error {
	withHeader, err := a.flag(1)
	if err != nil {
		return err
	}
	id, p, err := m.place(a)
	if err != nil {
		return err
	}
	if !p.Confirmed {
		return badRequest("transaction %s is not confirmed", appendID(nil, id))
	}
	m.out = append(m.out, `{"block_hash":"`...)
	m.out = appendID(m.out, p.BlockHash)
	m.out = append(m.out, `","block_height":`...)
	m.out = appendUint(m.out, uint64(p.Height))
	if withHeader {
		header, err := m.view.Header(p.Height)
		if err != nil {
			return err
		}
		m.out = append(m.out, `,"block_header":"`...)
		m.out = appendHex(m.out, header)
		m.out = append(m.out, '"')
	}
	m.out = append(m.out, '}')
	return nil
}

// broadcast submits a transaction and answers its id.
func (m *moment) broadcast(a *args) error {
	text, _, err := a.text(0)
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return badRequest("raw_tx should be a hex string")
	}
	if err := m.mayBroadcast(1); err != nil {
		return err
	}
	id, err := m.chain.Submit(m.ctx, raw, model.SubmitOptions{})
	if err != nil {
		if _, code := model.KindOf(err); code == "rejected" {
			return badRequest("the transaction was rejected by network rules.\n\n%v\n[%s]", err, text)
		}
		return nodeError(err)
	}
	m.out = append(m.out, '"')
	m.out = appendID(m.out, id)
	m.out = append(m.out, '"')
	return nil
}

// mayBroadcast returns an error if the client has submitted too many transactions.
func (m *moment) mayBroadcast(n int) error {
	if m.client.submit(n) {
		return nil
	}
	return &rpcError{codeLimit, fmt.Sprintf("your address may submit %v transactions per minute (submit_limit): retry later",
		m.SubmitPerMinute)}
}

// nodeError returns the error of a question to the node.
func nodeError(err error) error {
	if kind, _ := model.KindOf(err); kind == model.Internal {
		return err
	}
	return &rpcError{codeNode, "daemon error: " + err.Error()}
}

// maxPackage is the number of transactions of a package that nodes accept.
const maxPackage = 25

// broadcastPackage submits dependent transactions, and answers whether all were accepted; verbose: the node's answer.
func (m *moment) broadcastPackage(a *args) error {
	var texts []string
	if json.Unmarshal(a.values[0], &texts) != nil || len(texts) == 0 || len(texts) > maxPackage {
		return badRequest("raw_txs should be an array of 1 to %d hex strings", maxPackage)
	}
	verbose, err := a.flag(1)
	if err != nil {
		return err
	}
	raws := make([][]byte, len(texts))
	for i, text := range texts {
		if raws[i], err = hex.DecodeString(text); err != nil || len(raws[i]) == 0 {
			return badRequest("transaction %d of raw_txs should be a hex string", i)
		}
	}
	if err := m.mayBroadcast(len(raws)); err != nil {
		return err
	}
	answer, err := m.chain.SubmitPackage(m.ctx, raws, model.SubmitOptions{})
	if err != nil {
		if _, code := model.KindOf(err); code == "rejected" {
			return badRequest("the package was rejected by network rules.\n\n%v", err)
		}
		return nodeError(err)
	}
	if verbose {
		m.out = append(m.out, answer...)
		return nil
	}
	var results struct {
		Message string `json:"package_msg"`
		Results map[string]struct {
			ID    string `json:"txid"`
			Error string `json:"error"`
		} `json:"tx-results"`
	}
	if err := json.Unmarshal(answer, &results); err != nil {
		return errors.Join(errors.New("the node's answer to submitpackage"), err)
	}
	type failure struct {
		ID    string `json:"txid"`
		Error string `json:"error"`
	}
	failures := []failure{}
	for _, r := range results.Results {
		if r.Error != "" {
			failures = append(failures, failure{r.ID, r.Error})
		}
	}
	text, err := json.Marshal(struct {
		Success bool      `json:"success"`
		Errors  []failure `json:"errors,omitempty"`
	}{results.Message == "success", failures})
	m.out = append(m.out, text...)
	return err
}
