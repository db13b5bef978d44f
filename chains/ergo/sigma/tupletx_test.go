package sigma

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"testing"
)

// tupleTx is the transaction of mainnet with a tuple in a register that is an expression and no constant, of
// sigmastate-interpreter, sc/shared/src/test/scala/org/ergoplatform/ErgoLikeTransactionSpec.scala.
const tupleTx = "0278c93ee55eec066ec06290524dc01773440fbaff644bd181ab4334f97083863738644bf834de150b9abd077cf52ecb" +
	"4892536ab6ad6ef8505fb932d9ca7b9fb211fc8294618723eb4909d4553f4d419762332f68865b1d703d00faae81c0e5" +
	"7683108c55647c5837a4fedfb52ffde04db74a8b4b77e37ab81afc3828c904862db6134e0f859ff5f62e4a5cb9da6b15" +
	"ea1cd1a11dc932899d7b99e9073034ccd4e7c54fa9790d8ee356dce22ee151b044561c96000000038094ebdc03100704" +
	"0205c80105c8010500040004000e1f3faf2cb329f2e90d6d23b58d91bbb6c046aa143261cc21f52fbe2824bfcbf0d807" +
	"d601e4c6a70408d602b2a5730000d603e4c6a70601d604e4c6a70856d605e4c6a70505d606e4c6a70705d60795720399" +
	"c1a7c1720299c17202c1a7eb027201d1ededededededededed93c27202c2a793e4c672020408720193e4c67202050595" +
	"72039d9c72057e8c7204010573019d9c72057e8c72040205730294e4c672020601720393e4c672020705720693e4c672" +
	"020856720493e4c67202090ec5a7929c720672057207917207730395ef720393b1db630872027304d801d608b2db6308" +
	"7202730500ed938c7208017306938c7208027206d18f34000508cd030c8f9c4dc08f3c006fa85a47c9156dedbede000a" +
	"8b764c6e374fd097e873ba0405dceeaa0401010564860202660263c0edcea7090008cd030c8f9c4dc08f3c006fa85a47" +
	"c9156dedbede000a8b764c6e374fd097e873ba04d18f340000c0843d1005040004000e36100204a00b08cd0279be667e" +
	"f9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192a39a8cc7a701730073011001020402d1" +
	"9683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304d18f340000"

func TestTransactionWithATupleInARegister(t *testing.T) {
	raw := unhex(t, tupleTx)
	id, err := SignedTxID(raw)
	if hex.EncodeToString(id[:]) != "b5fd96c9f8c1ff436d609a225a12377c6873b890a145fc05f4099845b89315e5" {
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
