package bitcoin

import (
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/indexexpr"
)

// environment is what the expressions of users' indexes read: [indexexpr.NewLanguage]. Its bytes point into the block.
// The examples are those of block 908244 of mainnet, where it has the thing.
type environment struct {
	Output outputFields `expr:"output"`
	Tx     txFields     `expr:"tx"`
	Block  blockFields  `expr:"block"`
}

type outputFields struct {
	Index        int                  `expr:"index" doc:"its number in the transaction, from 0" example:"0"`
	Value        int                  `expr:"value" doc:"satoshis" example:"330"`
	Size         int                  `expr:"size" doc:"bytes of its serialization" example:"31"`
	Script       []byte               `expr:"script" doc:"the output script" example:"00141eab23e97c857fef10410422377a53b5e9c643d8"`
	ScriptType   string               `expr:"script_type" doc:"the form of the script by Core's name: see the index script_type" example:"witness_v0_keyhash"`
	Address      string               `expr:"address" doc:"who it pays, as the index address has it; empty where the script has none" example:"bc1qr64j86tus4l77yzpqs3rw7jnkh5uvs7c3s4du3"`
	ScriptHash   string               `expr:"script_hash" doc:"SHA-256 of the script, byte-reversed, in hex" example:"d9e8e314f002cff0074745ce6685d1f7dfbfced3310c8e548521eceedd278a29"`
	Data         []byte               `expr:"data" doc:"what an OP_RETURN output pushes, all its pushes in one; empty for any other script" example:"ff7f818cec82d08bc0a88281d215"`
	Pushes       [][]byte             `expr:"pushes" doc:"what the script pushes, whatever its form, the first 16,384; an empty push counts, the opcodes of small numbers do not" example:"1eab23e97c857fef10410422377a53b5e9c643d8"`
	Runestone    []byte               `expr:"runestone" doc:"what an output of OP_RETURN and OP_13 pushes after these, the message of the runes protocol; empty for any other script" example:"ff7f818cec82d08bc0a88281d215"`
	Inscriptions []*inscriptionFields `expr:"inscriptions" doc:"the inscriptions in the script itself, as 1sat ordinals have them"`
}

type txFields struct {
	Hash         string               `expr:"hash" doc:"its id, as everyone writes it" example:"3db8b5d249658081d0d64831b322c40d6dc4f850ccf00b63eacbef608f9f09be"`
	Index        int                  `expr:"index" doc:"its number in the block, from 0" example:"1352"`
	Coinbase     bool                 `expr:"coinbase" doc:"whether it is the first of its block, which makes new coins" example:"false"`
	Version      int                  `expr:"version" doc:"as it states it" example:"2"`
	LockTime     int                  `expr:"lock_time" doc:"as it states it: a height below 500,000,000, else seconds" example:"0"`
	Size         int                  `expr:"size" doc:"bytes, witness included" example:"663"`
	Weight       int                  `expr:"weight" doc:"weight units (BIP 141)" example:"1341"`
	InputCount   int                  `expr:"input_count" doc:"how many inputs it has; a coinbase has one" example:"3"`
	OutputCount  int                  `expr:"output_count" doc:"how many outputs it has" example:"3"`
	Inputs       []*inputFields       `expr:"inputs" doc:"its inputs. What they spend is named, not known: value, script and address of a spent output are in another block"`
	Outputs      []*siblingFields     `expr:"outputs" doc:"all its outputs, for conditions on the others"`
	Inscriptions []*inscriptionFields `expr:"inscriptions" doc:"the inscriptions that its inputs' witnesses reveal, in their order"`
}

type inputFields struct {
	Tx             string   `expr:"tx" doc:"the id of the transaction whose output it spends" example:"f60b2509e64eff534e2d8eb8116984ff24d0a2c070f200e58447937cd81d0ace"`
	Index          int      `expr:"index" doc:"the number of that output" example:"1"`
	Script         []byte   `expr:"script" doc:"the input script" example:"1600146450e21d96998204c6e2447748eb03529de0d0a3"`
	Pushes         [][]byte `expr:"pushes" doc:"what the input script pushes, as output.pushes" example:"00146450e21d96998204c6e2447748eb03529de0d0a3"`
	Sequence       int      `expr:"sequence" doc:"as it states it" example:"4294967293"`
	Witness        [][]byte `expr:"witness" doc:"the items of its witness, the first 16,384" example:"031837566e84fd055c5c5651df28696975f2c999ab8ea787c86aec25b37bc7c719"`
	Revealed       []byte   `expr:"revealed" doc:"the script in the witness: the last item, or with a control block after it the one before that" example:"208dae131f92eb7d0cd5b2737521a1755697b40117a4718383e4bc496378394228ac"`
	RevealedPushes [][]byte `expr:"revealed_pushes" doc:"what the revealed script pushes" example:"7b2270223a226272632d3230222c226f70223a226d696e74222c227469636b223a225a6575737a222c22616d74223a223330303030227d"`
	Keys           [][]byte `expr:"keys" doc:"what looks like a public key in the pushes, the witness and the scripts they reveal; the keys of taproot do not" example:"031837566e84fd055c5c5651df28696975f2c999ab8ea787c86aec25b37bc7c719"`
}

type siblingFields struct {
	Value  int    `expr:"value" doc:"satoshis" example:"3150"`
	Script []byte `expr:"script" doc:"the output script" example:"0014078afc01d8d3256488773ab0af41ff51a871629d"`
	Data   []byte `expr:"data" doc:"as output.data" example:"ff7f818cec82d08bc0a88281d215"`
}

type inscriptionFields struct {
	Input           int    `expr:"input" doc:"the input that reveals it; in an output script the number of the output" example:"0"`
	Number          int    `expr:"number" doc:"its place among the inscriptions of the transaction or script, from 0: its id is tx.hash + 'i' + string(number)" example:"0"`
	ContentType     string `expr:"content_type" doc:"the MIME type it states (tag 1), empty where it states none or no text" example:"text/plain;charset=utf-8"`
	Body            []byte `expr:"body" doc:"its content, put together" example:"7b2270223a226272632d3230222c226f70223a226d696e74222c227469636b223a225a6575737a222c22616d74223a223330303030227d"`
	Pointer         int    `expr:"pointer" doc:"the satoshi of the outputs it is on, counted from the first (tag 2); -1 where it states none" example:"-1"`
	Parent          string `expr:"parent" doc:"the id of its parent (tag 3), empty where it states none" example:"050393f8bfd384260b48167fdc7fb913826c589fcb400dfd0f6e0aa0a62cd4cfi0"`
	Metadata        []byte `expr:"metadata" doc:"CBOR (tag 5), put together"`
	Metaprotocol    string `expr:"metaprotocol" doc:"the protocol it belongs to (tag 7), empty where it states none or no text"`
	ContentEncoding string `expr:"content_encoding" doc:"how the content is compressed (tag 9), empty where it states none or no text"`
	Delegate        string `expr:"delegate" doc:"the id of the inscription whose content it shows (tag 11), empty where it states none"`
}

type blockFields struct {
	Height  int    `expr:"height" doc:"its height" example:"908244"`
	Hash    string `expr:"hash" doc:"its hash, as everyone writes it" example:"000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357"`
	Time    int    `expr:"time" doc:"its time in seconds since 1970" example:"1754138009"`
	Size    int    `expr:"size" doc:"bytes, witnesses included" example:"1617600"`
	TxCount int    `expr:"tx_count" doc:"how many transactions it has" example:"3713"`
	Version int    `expr:"version" doc:"as its header states it" example:"568590336"`
	Bits    string `expr:"bits" doc:"the target in its compact form, 8 hex digits" example:"1702349e"`
	Nonce   int    `expr:"nonce" doc:"as its header states it" example:"2970259082"`
}

// language is what expressions over Bitcoin can name.
var language = indexexpr.NewLanguage(Name, (*environment)(nil), map[string]indexexpr.Choice{
	"output.script_type": {Names: block.KindNames[:], Aliases: map[string]string{
		"op_return": "nulldata", "p2pk": "pubkey", "p2pkh": "pubkeyhash", "p2sh": "scripthash", "p2wpkh": "witness_v0_keyhash",
		"p2wsh": "witness_v0_scripthash", "p2tr": "witness_v1_taproot",
	}},
})

// The fields that are filled, by their numbers.
var (
	bitOutputScriptType   = language.Bit("output.script_type")
	bitOutputAddress      = language.Bit("output.address")
	bitOutputScriptHash   = language.Bit("output.script_hash")
	bitOutputData         = language.Bit("output.data")
	bitOutputPushes       = language.Bit("output.pushes")
	bitOutputRunestone    = language.Bit("output.runestone")
	bitOutputInscriptions = language.Bit("output.inscriptions")

	bitTxHash         = language.Bit("tx.hash")
	bitTxWeight       = language.Bit("tx.weight")
	bitTxInputs       = language.Bit("tx.inputs")
	bitTxOutputs      = language.Bit("tx.outputs")
	bitTxInscriptions = language.Bit("tx.inscriptions")

	bitInputTx             = language.Bit("tx.inputs.tx")
	bitInputPushes         = language.Bit("tx.inputs.pushes")
	bitInputWitness        = language.Bit("tx.inputs.witness")
	bitInputRevealed       = language.Bit("tx.inputs.revealed")
	bitInputRevealedPushes = language.Bit("tx.inputs.revealed_pushes")
	bitInputKeys           = language.Bit("tx.inputs.keys")
	bitSiblingData         = language.Bit("tx.outputs.data")

	bitBlockHash = language.Bit("block.hash")
)
