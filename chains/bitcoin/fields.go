package bitcoin

import (
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/indexexpr"
)

// environment has the fields that expressions of custom indexes read: see [indexexpr.NewLanguage]. Its bytes point into
// the block. The examples are from block 908244 of mainnet if it has such a value.
type environment struct {
	Output outputFields `expr:"output"`
	Tx     txFields     `expr:"tx"`
	Block  blockFields  `expr:"block"`
}

type outputFields struct {
	Index        int                  `expr:"index" doc:"position in the transaction, from 0" example:"0"`
	Value        int                  `expr:"value" doc:"satoshis" example:"330"`
	Size         int                  `expr:"size" doc:"serialized size in bytes" example:"31"`
	Script       []byte               `expr:"script" doc:"the output script" example:"00141eab23e97c857fef10410422377a53b5e9c643d8"`
	ScriptType   string               `expr:"script_type" doc:"script type by Core's name: see the index script_type" example:"witness_v0_keyhash"`
	Address      string               `expr:"address" doc:"the recipient, as in the index address; empty if the script has no address" example:"bc1qr64j86tus4l77yzpqs3rw7jnkh5uvs7c3s4du3"`
	ScriptHash   string               `expr:"script_hash" doc:"SHA-256 of the script, byte-reversed, in hex" example:"d9e8e314f002cff0074745ce6685d1f7dfbfced3310c8e548521eceedd278a29"`
	Data         []byte               `expr:"data" doc:"the joined pushes of an OP_RETURN output; empty for other scripts" example:"ff7f818cec82d08bc0a88281d215"`
	Pushes       [][]byte             `expr:"pushes" doc:"the first 16,384 pushes of the script, whatever its type; empty pushes count, opcodes of small numbers do not" example:"1eab23e97c857fef10410422377a53b5e9c643d8"`
	Runestone    []byte               `expr:"runestone" doc:"the pushes after OP_RETURN and OP_13, a message of the runes protocol; empty for other scripts" example:"ff7f818cec82d08bc0a88281d215"`
	Inscriptions []*inscriptionFields `expr:"inscriptions" doc:"the inscriptions in the output script, as in 1sat ordinals"`
}

type txFields struct {
	Hash         string               `expr:"hash" doc:"transaction id, as usually written" example:"3db8b5d249658081d0d64831b322c40d6dc4f850ccf00b63eacbef608f9f09be"`
	Index        int                  `expr:"index" doc:"position in the block, from 0" example:"1352"`
	Coinbase     bool                 `expr:"coinbase" doc:"whether it is the coinbase of its block" example:"false"`
	Version      int                  `expr:"version" doc:"as stated in the transaction" example:"2"`
	LockTime     int                  `expr:"lock_time" doc:"lock time: a height below 500,000,000, else unix seconds" example:"0"`
	Size         int                  `expr:"size" doc:"size in bytes, witness included" example:"663"`
	Weight       int                  `expr:"weight" doc:"weight units (BIP 141)" example:"1341"`
	InputCount   int                  `expr:"input_count" doc:"number of inputs; a coinbase has one" example:"3"`
	OutputCount  int                  `expr:"output_count" doc:"number of outputs" example:"3"`
	Inputs       []*inputFields       `expr:"inputs" doc:"its inputs, the first 1,048,576; their lists have up to 4,194,304 entries in all. Value, script and address of a spent output are not available, since another block has them"`
	Outputs      []*siblingFields     `expr:"outputs" doc:"its outputs, the first 1,048,576, for conditions on the others"`
	Inscriptions []*inscriptionFields `expr:"inscriptions" doc:"the inscriptions revealed by the witnesses of its inputs, in order"`
}

type inputFields struct {
	Tx             string   `expr:"tx" doc:"id of the transaction whose output it spends" example:"f60b2509e64eff534e2d8eb8116984ff24d0a2c070f200e58447937cd81d0ace"`
	Index          int      `expr:"index" doc:"position of that output" example:"1"`
	Script         []byte   `expr:"script" doc:"the input script" example:"1600146450e21d96998204c6e2447748eb03529de0d0a3"`
	Pushes         [][]byte `expr:"pushes" doc:"pushes of the input script, as in output.pushes" example:"00146450e21d96998204c6e2447748eb03529de0d0a3"`
	Sequence       int      `expr:"sequence" doc:"as stated in the transaction" example:"4294967293"`
	Witness        [][]byte `expr:"witness" doc:"the items of its witness, the first 16,384" example:"031837566e84fd055c5c5651df28696975f2c999ab8ea787c86aec25b37bc7c719"`
	Revealed       []byte   `expr:"revealed" doc:"the script in the witness: the last item, or with a control block after it the one before that" example:"208dae131f92eb7d0cd5b2737521a1755697b40117a4718383e4bc496378394228ac"`
	RevealedPushes [][]byte `expr:"revealed_pushes" doc:"pushes of the revealed script" example:"7b2270223a226272632d3230222c226f70223a226d696e74222c227469636b223a225a6575737a222c22616d74223a223330303030227d"`
	Keys           [][]byte `expr:"keys" doc:"data with the form of a public key in the pushes, the witness and revealed scripts; not the keys of taproot" example:"031837566e84fd055c5c5651df28696975f2c999ab8ea787c86aec25b37bc7c719"`
}

type siblingFields struct {
	Value  int    `expr:"value" doc:"satoshis" example:"3150"`
	Script []byte `expr:"script" doc:"the output script" example:"0014078afc01d8d3256488773ab0af41ff51a871629d"`
	Data   []byte `expr:"data" doc:"as output.data" example:"ff7f818cec82d08bc0a88281d215"`
}

type inscriptionFields struct {
	Input           int      `expr:"input" doc:"the input that reveals it; in an output script the position of the output" example:"0"`
	Number          int      `expr:"number" doc:"position among the inscriptions of the transaction or script, from 0: its id is tx.hash + 'i' + string(number)" example:"0"`
	ContentType     string   `expr:"content_type" doc:"MIME type (tag 1); empty if missing or not text" example:"text/plain;charset=utf-8"`
	Body            []byte   `expr:"body" doc:"content, joined" example:"7b2270223a226272632d3230222c226f70223a226d696e74222c227469636b223a225a6575737a222c22616d74223a223330303030227d"`
	Pointer         int      `expr:"pointer" doc:"position of its satoshi in the outputs (tag 2); -1 if missing" example:"-1"`
	Parent          string   `expr:"parent" doc:"id of the first parent (tag 3); empty if missing" example:"050393f8bfd384260b48167fdc7fb913826c589fcb400dfd0f6e0aa0a62cd4cfi0"`
	Parents         []string `expr:"parents" doc:"ids of its parents (tag 3)"`
	Metadata        []byte   `expr:"metadata" doc:"CBOR (tag 5), joined"`
	Metaprotocol    string   `expr:"metaprotocol" doc:"protocol (tag 7); empty if missing or not text"`
	ContentEncoding string   `expr:"content_encoding" doc:"compression of the content (tag 9); empty if missing or not text"`
	Delegate        string   `expr:"delegate" doc:"id of the inscription whose content it shows (tag 11); empty if missing"`
}

type blockFields struct {
	Height  int    `expr:"height" doc:"its height" example:"908244"`
	Hash    string `expr:"hash" doc:"block hash, as usually written" example:"000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357"`
	Time    int    `expr:"time" doc:"block time in unix seconds" example:"1754138009"`
	Size    int    `expr:"size" doc:"size in bytes, witnesses included" example:"1617600"`
	TxCount int    `expr:"tx_count" doc:"number of transactions" example:"3713"`
	Version int    `expr:"version" doc:"as stated in the header" example:"568590336"`
	Bits    string `expr:"bits" doc:"the target in its compact form, 8 hex digits" example:"1702349e"`
	Nonce   int    `expr:"nonce" doc:"as stated in the header" example:"2970259082"`
}

// language compiles expressions over Bitcoin's fields.
var language = indexexpr.NewLanguage(Name, (*environment)(nil), map[string]indexexpr.Choice{
	"output.script_type": {Names: block.KindNames[:], Aliases: map[string]string{
		"op_return": "nulldata", "p2pk": "pubkey", "p2pkh": "pubkeyhash", "p2sh": "scripthash", "p2wpkh": "witness_v0_keyhash",
		"p2wsh": "witness_v0_scripthash", "p2tr": "witness_v1_taproot",
	}},
})

// Positions of the fields, for the fields that are filled only if an expression uses them.
var (
	bitOutputScriptType   = language.Bit("output.script_type")
	bitOutputAddress      = language.Bit("output.address")
	bitOutputScriptHash   = language.Bit("output.script_hash")
	bitOutputData         = language.Bit("output.data")
	bitOutputPushes       = language.Bit("output.pushes")
	bitOutputRunestone    = language.Bit("output.runestone")
	bitOutputInscriptions = language.Bit("output.inscriptions")

	bitTxIndex        = language.Bit("tx.index")
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
