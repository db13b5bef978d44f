package esplora

import (
	"net/http"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/model"
)

// txsOf returns transactions as a list that is sent one by one.
func (p *protocol) txsOf(txs []*wallet.Tx) any {
	return exchange.List(func(yield func(*txValue, error) bool) {
		for _, tx := range txs {
			if !yield(p.txOf(tx), nil) {
				return
			}
		}
	})
}

func (p *protocol) oneTx(r *request) answer {
	id := hashArg(r, "id")
	return func(v *view) (any, error) {
		tx, err := v.Tx(id)
		if err != nil {
			return nil, err
		}
		v.byPlace(tx.Place)
		return p.txOf(tx), nil
	}
}

// txStatus returns where a transaction is. An unknown one is not confirmed.
func txStatus(r *request) answer {
	id := hashArg(r, "id")
	return func(v *view) (any, error) {
		p, err := v.Place(id)
		if err != nil && !is(err, "unknown_tx") {
			return nil, err
		}
		v.byPlace(p)
		status := statusOf(p)
		return &status, nil
	}
}

func txHex(r *request) answer {
	return rawTx(r, func(raw []byte) any { return hexText(raw) })
}

func txRaw(r *request) answer {
	return rawTx(r, func(raw []byte) any { return exchange.Bytes(raw) })
}

func rawTx(r *request, as func([]byte) any) answer {
	id := hashArg(r, "id")
	return func(v *view) (any, error) {
		raw, p, err := v.RawTx(id)
		if err != nil {
			return nil, err
		}
		v.byPlace(p)
		return as(raw), nil
	}
}

// aboutConfirmed returns an answer about the place of the transaction of the argument id, which must be confirmed.
func aboutConfirmed(r *request, about func(*view, wallet.Place) (any, error)) answer {
	id := hashArg(r, "id")
	return func(v *view) (any, error) {
		p, err := v.Place(id)
		if is(err, "unknown_tx") || err == nil && !p.Confirmed {
			return nil, errUnconfirmed
		}
		if err != nil {
			return nil, err
		}
		v.byDepth(p.Height)
		return about(v, p)
	}
}

func merkleProof(r *request) answer {
	return aboutConfirmed(r, func(v *view, p wallet.Place) (any, error) {
		branch, err := v.MerkleBranch(p.Height, p.Position)
		return &proofValue{p.Height, script.Hashes(branch), p.Position}, err
	})
}

// merkleBlock returns a merkleblock message (BIP 37) in hex.
func merkleBlock(r *request) answer {
	return aboutConfirmed(r, func(v *view, p wallet.Place) (any, error) {
		header, err := v.Header(p.Height)
		if err != nil {
			return nil, err
		}
		ids, err := v.TxIDs(p.Height)
		if err != nil {
			return nil, err
		}
		proof, err := script.AppendMerkleBlock(nil, header, ids, p.Position)
		return hexText(proof), err
	})
}

// outspend returns which input spends an output. An output that does not exist is not spent.
func outspend(r *request) answer {
	id, index := hashArg(r, "id"), numberArg(r, "index")
	return func(v *view) (any, error) {
		all, err := v.Spenders(id)
		if err != nil && !is(err, "unknown_tx") {
			return nil, err
		}
		var s *wallet.Spender
		if uint64(index) < uint64(len(all)) {
			s = all[index]
		}
		r.CacheFor(shortly)
		if s != nil {
			v.byPlace(s.Place)
		}
		spender := spenderOf(s)
		return &spender, nil
	}
}

func outspends(r *request) answer {
	id := hashArg(r, "id")
	return func(v *view) (any, error) {
		all, err := v.Spenders(id)
		r.CacheFor(shortly)
		return spendersOf(all), err
	}
}

// maxOutspends is the maximum number of transactions of /txs/outspends.
const maxOutspends = 50

// manyOutspends returns a list per transaction; that of an unknown one is empty.
func manyOutspends(r *request) answer {
	texts := strings.Split(r.Param("txids"), ",")
	switch {
	case r.Param("txids") == "":
		r.Refuse(errorf(http.StatusBadRequest, "No txids specified"))
	case len(texts) > maxOutspends:
		r.Refuse(errorf(http.StatusBadRequest, "Too many txids requested"))
	}
	return func(v *view) (any, error) {
		r.CacheFor(shortly)
		return exchange.List(func(yield func([]spenderValue, error) bool) {
			for _, text := range texts {
				all, err := v.spendersOf(text)
				if !yield(spendersOf(all), err) {
					return
				}
			}
		}), nil
	}
}

// spendersOf returns the spenders of the outputs of a transaction; none if it is unknown.
func (v *view) spendersOf(id string) ([]*wallet.Spender, error) {
	h, ok := parseHash(id)
	if !ok {
		return nil, nil
	}
	all, err := v.Spenders(h)
	if is(err, "unknown_tx") {
		return nil, nil
	}
	return all, err
}

// txs returns the transactions with ids.
func (p *protocol) txs(v *view, ids []model.Hash) (any, error) {
	txs, err := v.Txs(ids)
	if err != nil {
		return nil, err
	}
	return p.txsOf(txs), nil
}
