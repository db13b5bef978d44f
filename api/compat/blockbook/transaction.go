package blockbook

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// form is how much of a transaction an answer has.
type form struct {
	light    bool                // without scripts and sizes
	spenders bool                // names the spenders of its outputs
	own      map[string]struct{} // addresses to mark as own
}

// transactions returns transactions in the order of ids, without unconfirmed ones that have left the node.
func (s *Server) transactions(v *wallet.View, ids []model.Hash, f form) ([]*tx, error) {
	found, err := v.Txs(ids)
	if err != nil {
		return nil, err
	}
	return s.format(v, found, f)
}

// find returns a transaction; NotFound (unknown_tx).
func (s *Server) find(v *wallet.View, id model.Hash, f form) (*tx, error) {
	t, err := v.Tx(id)
	if err != nil {
		return nil, err
	}
	all, err := s.format(v, []*wallet.Tx{t}, f)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func (s *Server) format(v *wallet.View, found []*wallet.Tx, f form) ([]*tx, error) {
	all := make([]*tx, len(found))
	for i, t := range found {
		var spenders []*wallet.Spender
		var err error
		if t.Place.Confirmed { // an output of an unconfirmed transaction has no confirmed spender
			if spenders, err = v.Spenders(t.ID); err != nil {
				return nil, err
			}
		}
		if all[i], err = s.transaction(v, t, spenders, f); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *Server) transaction(v *wallet.View, t *wallet.Tx, spenders []*wallet.Spender, f form) (*tx, error) {
	parsed, err := script.ParseTx(t.Raw)
	if err != nil {
		return nil, err
	}
	a := &tx{
		TxID: block.FormatHash(t.ID), BlockHeight: -1, VSize: t.VSize, Fees: t.Fee,
		Vin: make([]vin, len(parsed.TxIn)), Vout: make([]vout, len(parsed.TxOut)),
	}
	if t.Place.Confirmed {
		a.BlockHash, a.BlockHeight, a.BlockTime = block.FormatHash(t.Place.BlockHash), int64(t.Place.Height), t.Place.BlockTime
		a.Confirmations = confirmations(v, t.Place.Height)
	} else if !t.Seen.IsZero() {
		a.BlockTime = t.Seen.Unix()
	}
	if !f.light {
		a.Version, a.LockTime, a.Size, a.Hex = parsed.Version, parsed.LockTime, len(t.Raw), hex.EncodeToString(t.Raw)
	}
	for i, in := range parsed.TxIn {
		a.Vin[i] = s.input(i, in, t, f)
		if !t.Place.Confirmed && in.Sequence < wire.MaxTxInSequenceNum-1 {
			a.RBF = true
		}
		if in := a.Vin[i].Value; in != nil {
			a.ValueIn += *in
		}
	}
	for i, out := range parsed.TxOut {
		o := vout{Value: uint64(out.Value), N: i}
		o.Addresses, o.IsAddress = s.addresses(out.PkScript)
		o.IsOwn = o.IsAddress && f.owns(o.Addresses[0])
		if !f.light {
			o.Hex = hex.EncodeToString(out.PkScript)
		}
		if i < len(spenders) && spenders[i] != nil && spenders[i].Place.Confirmed {
			by := spenders[i]
			o.Spent = true
			if f.spenders {
				o.SpentTxID, o.SpentIndex, o.SpentHeight = block.FormatHash(by.Tx), by.Input, by.Place.Height
			}
		}
		a.Value += o.Value
		a.Vout[i] = o
	}
	return a, nil
}

func (s *Server) input(i int, in *wire.TxIn, t *wallet.Tx, f form) vin {
	a := vin{N: i}
	if i < len(t.Prevouts) {
		prevout := &t.Prevouts[i]
		a.TxID, a.Vout, a.Value = block.FormatHash(model.Hash(in.PreviousOutPoint.Hash)), in.PreviousOutPoint.Index, &prevout.Value
		a.Addresses, a.IsAddress = s.addresses(prevout.Script)
		a.IsOwn = a.IsAddress && f.owns(a.Addresses[0])
	}
	if f.light {
		if a.Value == nil {
			a.Value = new(uint64) // of a coinbase
		}
		return a
	}
	a.Sequence = in.Sequence
	if len(t.Prevouts) == 0 {
		a.Coinbase = hex.EncodeToString(in.SignatureScript)
	} else {
		a.Hex = hex.EncodeToString(in.SignatureScript)
	}
	return a
}

func (f *form) owns(address string) bool {
	_, own := f.own[address]
	return own
}

// confirmations returns the number of blocks from a height to the tip.
func confirmations(v *wallet.View, height uint32) uint32 { return uint32(v.Tip.Height) - height + 1 }

// addresses returns the address of a script, if it has one. Others are described: bare multisig by the addresses of its
// keys, and data by its text.
func (s *Server) addresses(pkScript []byte) (list []string, isAddress bool) {
	if a := s.chain.Address(pkScript); a != "" {
		return []string{a}, true
	}
	list = []string{}
	switch kind, _ := block.Solve(pkScript); kind {
	case block.Multisig:
		_, keys, _, err := txscript.ExtractPkScriptAddrs(pkScript, s.coin.params)
		if err != nil {
			return list, false
		}
		for _, key := range keys {
			list = append(list, key.EncodeAddress())
		}
	case block.NullData:
		if text := describeData(pkScript); text != "" {
			list = append(list, text)
		}
	}
	return list, false
}

// describeData returns the text of a script that is OP_RETURN and a single push: a transfer of the Omni layer, or the data
// in parentheses if it is UTF-8, else in hex. Blockbook reads no push with a length of four bytes (TryParseOPReturn).
func describeData(pkScript []byte) string {
	op, data, rest, ok := block.NextOp(pkScript[1:])
	if !ok || len(rest) > 0 || op >= txscript.OP_PUSHDATA4 {
		return ""
	}
	if text := omniSend(data); text != "" {
		return text
	}
	if utf8.Valid(data) {
		return "OP_RETURN (" + string(data) + ")"
	}
	return "OP_RETURN " + hex.EncodeToString(data)
}

// omniProperties are the names of the properties of the Omni layer that Blockbook knows.
var omniProperties = map[uint32]string{1: "Omni", 2: "Test Omni", 31: "TetherUS"}

// omniSend returns the text of a simple send, version 0, of the Omni layer, and nothing for other data. The property and
// the amount are big-endian.
func omniSend(data []byte) string {
	if len(data) != 20 || string(data[:8]) != "omni\x00\x00\x00\x00" {
		return ""
	}
	property := binary.BigEndian.Uint32(data[8:])
	name := omniProperties[property]
	if name == "" {
		return ""
	}
	return fmt.Sprintf("OMNI Simple Send: %s %s (#%d)", formatBTC(binary.BigEndian.Uint64(data[12:])), name, property)
}

// oneTx returns a transaction.
func (s *Server) oneTx(q *question, id string, spenders bool) (*tx, error) {
	hash, err := txID(id)
	if err != nil {
		return nil, err
	}
	a, err := s.find(q.View, hash, form{spenders: spenders})
	return a, inBlockbooksWords(err, id)
}

func txID(text string) (model.Hash, error) {
	hash, ok := block.ParseHash(text)
	if !ok {
		return hash, unknownTx(text)
	}
	return hash, nil
}

func inBlockbooksWords(err error, id string) error {
	if isUnknownTx(err) {
		return unknownTx(id)
	}
	return err
}

func isUnknownTx(err error) bool {
	_, code := model.KindOf(err)
	return code == "unknown_tx"
}

// specific returns a transaction in the form of the node.
func (s *Server) specific(q *question, id string) (any, error) {
	raw, place, err := rawTx(q, id)
	if err != nil {
		return nil, err
	}
	return q.VerboseTx(raw, &place)
}

func rawTx(q *question, id string) ([]byte, wallet.Place, error) {
	hash, err := txID(id)
	if err != nil {
		return nil, wallet.Place{}, err
	}
	raw, place, err := q.RawTx(hash)
	return raw, place, inBlockbooksWords(err, id)
}
