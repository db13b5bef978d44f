package esplora

import (
	"encoding/hex"
	"net/http"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
)

func oneTx(q *request) error {
	id, err := q.hash(q.args[0])
	if err != nil {
		return err
	}
	tx, err := q.view.Tx(id)
	if err != nil {
		return err
	}
	q.byPlace(tx.Place)
	q.tx(tx)
	return nil
}

// txStatus returns where a transaction is. An unknown one is not confirmed.
func txStatus(q *request) error {
	id, err := q.hash(q.args[0])
	if err != nil {
		return err
	}
	p, err := q.view.Place(id)
	if err != nil && !is(err, "unknown_tx") {
		return err
	}
	q.byPlace(p)
	q.status(p)
	return nil
}

func (q *request) rawTx() ([]byte, error) {
	id, err := q.hash(q.args[0])
	if err != nil {
		return nil, err
	}
	raw, p, err := q.view.RawTx(id)
	if err == nil {
		q.byPlace(p)
	}
	return raw, err
}

func txHex(q *request) error {
	raw, err := q.rawTx()
	q.contentType = textType
	q.out = hex.AppendEncode(q.out, raw)
	return err
}

func txRaw(q *request) error {
	raw, err := q.rawTx()
	q.contentType = binaryType
	q.out = append(q.out, raw...)
	return err
}

// confirmed returns the place of the transaction of the first argument, which must be confirmed.
func (q *request) confirmed() (p wallet.Place, err error) {
	id, err := q.hash(q.args[0])
	if err != nil {
		return p, err
	}
	p, err = q.view.Place(id)
	if is(err, "unknown_tx") || err == nil && !p.Confirmed {
		return p, errUnconfirmed
	}
	if err == nil {
		q.byDepth(p.Height)
	}
	return p, err
}

func merkleProof(q *request) error {
	p, err := q.confirmed()
	if err != nil {
		return err
	}
	branch, err := q.view.MerkleBranch(p.Height, p.Position)
	if err != nil {
		return err
	}
	q.num(`{"block_height":`, uint64(p.Height))
	q.str(`,"merkle":`)
	q.ids(branch)
	q.num(`,"pos":`, uint64(p.Position))
	q.str("}")
	return nil
}

// merkleBlock returns a merkleblock message (BIP 37) in hex.
func merkleBlock(q *request) error {
	p, err := q.confirmed()
	if err != nil {
		return err
	}
	header, err := q.view.Header(p.Height)
	if err != nil {
		return err
	}
	ids, err := q.view.TxIDs(p.Height)
	if err != nil {
		return err
	}
	proof, err := script.AppendMerkleBlock(nil, header, ids, p.Position)
	if err != nil {
		return err
	}
	q.contentType = textType
	q.out = hex.AppendEncode(q.out, proof)
	return nil
}

// outspend returns which input spends an output. An output that does not exist is not spent.
func outspend(q *request) error {
	id, err := q.hash(q.args[0])
	if err != nil {
		return err
	}
	index, err := number(q.args[1])
	if err != nil {
		return err
	}
	all, err := q.view.Spenders(id)
	if err != nil && !is(err, "unknown_tx") {
		return err
	}
	var s *wallet.Spender
	if uint64(index) < uint64(len(all)) {
		s = all[index]
	}
	q.maxAge = shortly
	if s != nil {
		q.byPlace(s.Place)
	}
	q.spender(s)
	return nil
}

func outspends(q *request) error {
	id, err := q.hash(q.args[0])
	if err != nil {
		return err
	}
	all, err := q.view.Spenders(id)
	if err != nil {
		return err
	}
	q.maxAge = shortly
	q.spenders(all)
	return nil
}

// maxOutspends is the maximum number of transactions of /txs/outspends.
const maxOutspends = 50

// manyOutspends returns a list per transaction; that of an unknown one is empty.
func manyOutspends(q *request) error {
	if q.param("txids") == "" {
		return errorf(http.StatusBadRequest, "No txids specified")
	}
	ids := strings.Split(q.param("txids"), ",")
	if len(ids) > maxOutspends {
		return errorf(http.StatusBadRequest, "Too many txids requested")
	}
	q.maxAge = shortly
	q.str("[")
	for i, text := range ids {
		if i > 0 {
			q.str(",")
		}
		var all []*wallet.Spender
		if id, ok := parseHash(text); ok {
			var err error
			if all, err = q.view.Spenders(id); err != nil && !is(err, "unknown_tx") {
				return err
			}
		}
		q.spenders(all)
	}
	q.str("]")
	return nil
}
