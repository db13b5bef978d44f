package ord

import (
	"strconv"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

func number(n int64) any { return exchange.Text(strconv.FormatInt(n, 10)) }

func blockHeight(*request) answer {
	return func(v *view) (any, error) {
		if v.Tip.IsOrigin() {
			return nil, missing("blockheight")
		}
		return number(int64(v.Tip.Height)), nil
	}
}

func blockCount(*request) answer {
	return func(v *view) (any, error) {
		if v.Tip.IsOrigin() {
			return number(0), nil
		}
		return number(int64(v.Tip.Height) + 1), nil
	}
}

func blockTime(*request) answer {
	return func(v *view) (any, error) {
		if v.Tip.IsOrigin() {
			return nil, missing("blocktime")
		}
		b, err := v.Block(uint32(v.Tip.Height))
		if err != nil {
			return nil, err
		}
		return number(b.Time), nil
	}
}

// hashOf returns the hash of the block at the height in the path, or of the newest.
func hashOf(r *request) func(*view) (model.Hash, error) {
	height, given := uint64(0), false
	if text, ok := r.Arg("height"); ok {
		var err error
		if height, err = strconv.ParseUint(text, 10, 32); err != nil {
			r.Refuse(badRequest("invalid height %q", text))
		}
		given = true
	}
	return func(v *view) (model.Hash, error) {
		if !given {
			height = uint64(v.Tip.Height)
		}
		if v.Tip.IsOrigin() || height > uint64(v.Tip.Height) {
			return model.Hash{}, missing("blockhash")
		}
		b, err := v.Block(uint32(height))
		if err != nil {
			return model.Hash{}, err
		}
		return b.Hash, nil
	}
}

func blockHash(r *request) answer {
	find := hashOf(r)
	return func(v *view) (any, error) {
		hash, err := find(v)
		return exchange.Text(block.FormatHash(hash)), err
	}
}

func blockHashJSON(r *request) answer {
	find := hashOf(r)
	return func(v *view) (any, error) {
		hash, err := find(v)
		return script.Hash(hash), err
	}
}

// rawTx returns a serialized transaction.
func rawTx(r *request) answer {
	find := txOf(r)
	return func(v *view) (any, error) {
		return find(func(id model.Hash) (any, error) {
			raw, _, err := v.RawTx(id)
			return jsonappend.Hex(raw), err
		})
	}
}

// oneTx returns a transaction, and the name of the rune that it created.
func oneTx(r *request) answer {
	return ofTx(r, func(v *view, tx *wallet.Tx) (any, error) {
		a := &txValue{Chain: chainName(v.Network()), TxID: script.Hash(tx.ID), Transaction: messageTxOf(tx.Msg)}
		var err error
		if tx.Place.Confirmed {
			a.Etching, err = v.etchingAt(tx.Place.Height, tx.Place.Position)
		}
		return a, err
	})
}

// ofTx answers about the transaction of a request.
func ofTx(r *request, answerOf func(*view, *wallet.Tx) (any, error)) answer {
	find := txOf(r)
	return func(v *view) (any, error) {
		return find(func(id model.Hash) (any, error) {
			tx, err := v.Tx(id)
			if err != nil {
				return nil, err
			}
			return answerOf(v, tx)
		})
	}
}

// txOf reads the id of a transaction. The function that it returns reads the transaction.
func txOf(r *request) func(read func(model.Hash) (any, error)) (any, error) {
	text, _ := r.Arg("id")
	id, ok := block.ParseHash(text)
	if !ok {
		r.Refuse(badRequest("invalid transaction id %q", text))
	}
	return func(read func(model.Hash) (any, error)) (any, error) {
		found, err := read(id)
		if is(err, "unknown_tx") {
			return nil, missing("transaction %s", text)
		}
		return found, err
	}
}

func messageTxOf(tx *wire.MsgTx) *messageTx {
	a := &messageTx{Version: tx.Version, LockTime: tx.LockTime, Input: []txInput{}, Output: []txOut{}}
	for _, in := range tx.TxIn {
		previous := outpoint{model.Hash(in.PreviousOutPoint.Hash), in.PreviousOutPoint.Index}
		witness := []jsonappend.Hex{}
		for _, item := range in.Witness {
			witness = append(witness, item)
		}
		a.Input = append(a.Input, txInput{previous, in.SignatureScript, in.Sequence, witness})
	}
	for _, out := range tx.TxOut {
		a.Output = append(a.Output, txOut{uint64(out.Value), out.PkScript})
	}
	return a
}

// status describes the server. It never had an initial sync of its own.
func (p *protocol) status(*request) answer {
	return func(v *view) (any, error) {
		next := model.HeightPk(0)
		a := &statusValue{
			AddressIndex: true, Chain: chainName(v.Network()), JSONAPI: true, RuneIndex: true, Runes: v.count(),
			TransactionIndex: true,
			Started:          p.started.UTC().Format(time.RFC3339Nano),
		}
		if !v.Tip.IsOrigin() {
			height := uint32(v.Tip.Height)
			a.Height, next = &height, v.Tip.Height+1
		}
		a.MinimumRuneForNextBlock = p.rules.Minimum(next).String()
		uptime := time.Since(p.started)
		a.Uptime = duration{int64(uptime / time.Second), int64(uptime % time.Second)}
		return a, nil
	}
}

// chainName returns the name that ord gives a network.
func chainName(network string) string {
	if network == "testnet3" {
		return "testnet"
	}
	return network
}
