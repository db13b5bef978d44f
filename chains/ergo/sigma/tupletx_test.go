package sigma

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"testing"

	"birthmark/chains/ergo/sigma/sigmatest"
)

func TestTransactionWithATupleInARegister(t *testing.T) {
	raw := unhex(t, sigmatest.TupleTx)
	id, err := SignedTxID(raw)
	if hex.EncodeToString(id[:]) != sigmatest.TupleTxID {
		t.Fatalf("the transaction has the id %x: %v", id, err)
	}
	tx, err := ParseTx(raw, Known{TreeSize: func(_ int, rest []byte) int {
		r := reader{b: rest}
		r.skipTree()
		return r.at
	}})
	if err != nil || len(tx.Outputs) != 3 {
		t.Fatalf("the transaction is %+v: %v", tx, err)
	}
	var e Encoder
	if !bytes.Equal(e.AppendTx(nil, tx, true), raw) {
		t.Error("the transaction does not have its bytes again")
	}
	r8 := tx.Outputs[0].Registers[4]
	value, ok := Value(r8)
	if hex.EncodeToString(r8) != "860202660263" || !ok || !reflect.DeepEqual(value, []any{102, 99}) ||
		TypeName(r8) != "(Byte, Byte)" {
		t.Errorf("R8 is %x: %v of the type %s", r8, value, TypeName(r8))
	}
}
