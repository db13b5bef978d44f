package blockfrost

import (
	"encoding/hex"
	"fmt"
	"iter"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

var everywhere = setops.Everywhere

// plutusJSON returns Plutus data in the detailed schema: int, bytes, list, map, and constructor with fields.
func plutusJSON(datum []byte) any { return cardano.PlutusJSON(datum) }

// script returns the script of the path.
func (q *request) script() (hash []byte, s *ledger.Script, err error) {
	hash, err = hex.DecodeString(q.Args[0])
	if err != nil || len(hash) != address.CredentialSize {
		return nil, nil, exchange.ErrNotFound
	}
	if s, err = q.FindScript(hash); err == nil && s == nil {
		err = exchange.ErrNotFound
	}
	return hash, s, err
}

// typeOf returns the type of a script. Versions of Plutus are those of its language.
func typeOf(s *ledger.Script) string {
	if s.Language == 0 {
		return "timelock"
	}
	return fmt.Sprintf("plutusV%d", s.Language)
}

func oneScript(q *request) error {
	_, s, err := q.script()
	if err != nil {
		return err
	}
	a := struct {
		ScriptHash string `json:"script_hash"`
		Type       string `json:"type"`
		Size       *int   `json:"serialised_size"` // null: a timelock
	}{ScriptHash: q.Args[0], Type: typeOf(s)}
	if s.Language > 0 {
		size := len(s.Code)
		a.Size = &size
	}
	q.Answer = a
	return nil
}

func scriptCBOR(q *request) error {
	_, s, err := q.script()
	if err != nil {
		return err
	}
	a := struct {
		CBOR *string `json:"cbor"` // null: a timelock
	}{}
	if s.Language > 0 {
		a.CBOR = exchange.HexText(s.Code)
	}
	q.Answer = a
	return nil
}

func scriptJSON(q *request) error {
	_, s, err := q.script()
	if err != nil {
		return err
	}
	a := struct {
		JSON any `json:"json"` // null: a Plutus script
	}{}
	if s.Language == 0 {
		a.JSON = contents.Timelock(s.Code)
	}
	q.Answer = a
	return nil
}

// scriptUTXOs answers the unspent outputs that have the script as their reference script.
func scriptUTXOs(q *request) error {
	hash, err := hex.DecodeString(q.Args[0])
	if err != nil || len(hash) != address.CredentialSize {
		return exchange.ErrNotFound
	}
	x, err := q.Q.Index(utxo.ScriptIndex)
	if err != nil {
		return err
	}
	birth, err := q.Q.Birth(x, hash)
	if err != nil {
		return err
	}
	if birth == nil {
		if _, _, err := q.script(); err != nil {
			return err
		}
		q.Answer = []utxoJSON{}
		return nil
	}
	p := q.Page
	pks, err := exchange.PageOf(q.Request, p, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		return q.Q.StoredUnspent(x, *birth, following(after, p.Descending), p.Descending)
	})
	if err != nil {
		return err
	}
	return q.writeUTXOs(&holder{index: x}, pks)
}

// datum returns the datum of the path.
func (q *request) datum() ([]byte, error) {
	hash, err := hex.DecodeString(q.Args[0])
	if err != nil || len(hash) != blake2b.Size256 {
		return nil, exchange.ErrNotFound
	}
	datum, err := q.FindDatum(hash)
	if err == nil && datum == nil {
		err = exchange.ErrNotFound
	}
	return datum, err
}

func datumJSON(q *request) error {
	datum, err := q.datum()
	q.Answer = struct {
		Value any `json:"json_value"`
	}{plutusJSON(datum)}
	return err
}

func datumCBOR(q *request) error {
	datum, err := q.datum()
	q.Answer = struct {
		CBOR string `json:"cbor"`
	}{hex.EncodeToString(datum)}
	return err
}

// scripts answers the hashes of scripts in the order in which they first occurred.
func scripts(q *request) error {
	x, err := q.Optional(exchange.Scripts, 0)
	if err != nil {
		return err
	}
	p := q.Page
	type first struct{ birth, value string }
	found, err := exchange.PageOf(q.Request, p, func(after *first) iter.Seq2[first, error] {
		var position []byte
		if after != nil {
			position = []byte(after.birth)
		}
		from, to := schema.Between(nil, position, p.Descending)
		return schema.Rows(q.Q.R, x.Family(schema.IndexValue), from, to, p.Descending, func(key, value []byte) (first, error) {
			return first{string(key), string(value)}, nil
		})
	})
	if err != nil {
		return err
	}
	type script struct {
		Hash string `json:"script_hash"`
	}
	all := []script{}
	for _, f := range found {
		all = append(all, script{x.Format([]byte(f.value))})
	}
	q.Answer = all
	return nil
}
