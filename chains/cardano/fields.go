package cardano

// environment has the fields of expressions over Cardano.
type environment struct {
	Output outputFields `expr:"output"`
	Tx     txFields     `expr:"tx"`
	Block  blockFields  `expr:"block"`
}

// outputFields are the fields of an output in expressions.
type outputFields struct {
	Index             int      `expr:"index" doc:"position among the outputs of its transaction, from 0; for a collateral return, the number of the regular outputs" example:"1"`
	Value             int      `expr:"value" doc:"lovelace" example:"1417990"`
	Size              int      `expr:"size" doc:"serialized size in bytes; 0 for genesis outputs" example:"169"`
	Address           string   `expr:"address" doc:"the recipient: bech32, or base 58 for Byron addresses" example:"addr1wyvnaejjzxanknsw5hm4raq4y6f4tfjsut3hqmmztn035jc4rpcfn"`
	AddressBytes      []byte   `expr:"address_bytes" doc:"the address in binary form (CIP-19)" example:"71193ee65211bb3b4e0ea5f751f415269355a650e2e3706f625cdf1a4b"`
	PaymentCredential string   `expr:"payment_credential" doc:"the key or script that can spend it, in bech32 (CIP-5): addr_vkh1… or script1…; empty in Byron" example:"script1rylwv5s3hva5ur497aglg9fxjd26v58zudcx7cjumudykqkleap"`
	StakeCredential   string   `expr:"stake_credential" doc:"the key or script that stakes it, as a stake address: stake1…; empty if the address has none" example:"stake1uyrl9g3lyg75g4vpk9j5ltf0rrswmt0g4cn8f74a9gnt5cqwthvjj"`
	DatumHash         []byte   `expr:"datum_hash" doc:"hash of its datum, inline or not" example:"fc13c2736db58258418825776a472dc9c58d25e0fc6499c01c55826b398af19d"`
	Datum             []byte   `expr:"datum" doc:"its inline datum, CBOR of Plutus data" example:"d8799f00d8799fd8799f00ffffff"`
	DatumValue        any      `expr:"datum_value" doc:"the decoded inline datum: constructors are {constructor, fields}" example:"1618"`
	Script            []byte   `expr:"script" doc:"its reference script: the program for Plutus, CBOR for a native script" example:"5904a20100003323232323232323…"`
	ScriptHash        []byte   `expr:"script_hash" doc:"the hash of its reference script" example:"3cc8d01846f7288fb42b750bb2afaabe2db04c71a53ab5a5ed4be90f"`
	ScriptLanguage    string   `expr:"script_language" doc:"the language of its reference script: native, plutus_v1 to plutus_v4; empty if it has none" example:"plutus_v2"`
	Assets            []*asset `expr:"assets" doc:"its assets other than ada, in the order of the block"`
	Policies          [][]byte `expr:"policies" doc:"the policies of its assets, each once" example:"193ee65211bb3b4e0ea5f751f415269355a650e2e3706f625cdf1a4b"`
}

// asset is an entry of an output's value or of a mint.
type asset struct {
	ID     []byte `expr:"id" doc:"policy and name" example:"25c5de5f5b286073c593edfd77b48abc7a48e5a4f3d4cd9d428ff93555534443"`
	Policy []byte `expr:"policy" doc:"hash of the minting script, 28 bytes" example:"25c5de5f5b286073c593edfd77b48abc7a48e5a4f3d4cd9d428ff935"`
	Name   []byte `expr:"name" doc:"up to 32 bytes, often text" example:"55534443"`
	Amount int    `expr:"amount" doc:"amount, at most 9223372036854775807; negative if burned (in mints)" example:"1"`
}

// txFields are the fields of a transaction in expressions.
type txFields struct {
	Hash            []byte         `expr:"hash" doc:"its id" example:"55766ee81536d8c2af155d84c0c4c68079126e6b1419ad2c4dc8468cf22474c8"`
	Index           int            `expr:"index" doc:"position in the block, from 0" example:"1"`
	Fee             int            `expr:"fee" doc:"stated fee in lovelace; 0 in Byron, which has none" example:"243526"`
	Valid           bool           `expr:"valid" doc:"false if its scripts failed: it then spends its collateral, and its only output is the collateral return" example:"true"`
	Size            int            `expr:"size" doc:"size in bytes, as submitted to a node; 0 for genesis" example:"884"`
	InputCount      int            `expr:"input_count" doc:"number of inputs" example:"1"`
	OutputCount     int            `expr:"output_count" doc:"number of outputs" example:"2"`
	Inputs          []*spent       `expr:"inputs" doc:"the outputs it spends"`
	ReferenceInputs []*reference   `expr:"reference_inputs" doc:"its reference inputs"`
	Mints           []*asset       `expr:"mints" doc:"assets that it mints or burns"`
	RequiredSigners [][]byte       `expr:"required_signers" doc:"hashes of keys whose signatures scripts require" example:"4f641455f17911fe2f55ad3ad67fc2e0b2946b59af3352574322e67e"`
	ValidFrom       int            `expr:"valid_from" doc:"the first slot in which it is valid; 0 if not stated" example:"164061665"`
	ValidTo         int            `expr:"valid_to" doc:"the first slot in which it is no longer valid; 0 if not stated" example:"164141131"`
	MetadataLabels  []int          `expr:"metadata_labels" doc:"the labels of its metadata, in the order of the block" example:"674"`
	Metadata        map[int]any    `expr:"metadata" doc:"decoded metadata by label: numbers, text, bytes, lists, and maps by the text of their keys" example:"0: cardano"`
	Subjects        []string       `expr:"subjects" doc:"names in its certificates, withdrawals, votes and redeemers: accounts, pools (not of delegations), DReps, committee members, governance actions, scripts that it runs without spending from them; types of certificates, proposal, committee_vote" example:"stake_delegation"`
	Scripts         [][]byte       `expr:"scripts" doc:"hashes of the scripts in its witnesses and of the reference scripts in its outputs" example:"3cc8d01846f7288fb42b750bb2afaabe2db04c71a53ab5a5ed4be90f"`
	Datums          [][]byte       `expr:"datums" doc:"hashes of the datums in its witnesses" example:"923918e403bf43c34b4ef6b48eb2ee04babed17320d8d1b9ff9ad086e86f44ec"`
	MetadataRaw     map[int][]byte `expr:"metadata_raw" doc:"its metadata as CBOR, by label" example:"674: a1636d73678164666c6578"`
}

// spent names an output that a transaction spends.
type spent struct {
	Tx    []byte `expr:"tx" doc:"transaction of the output" example:"eacba58aaa0abe5b5bf8734b5b0d62f5aa3c1b9bfd26c85b67c47eff6def7219"`
	Index int    `expr:"index" doc:"position among the outputs of that transaction" example:"1"`
}

// reference names an output that a transaction reads.
type reference struct {
	Tx    []byte `expr:"tx" doc:"transaction of the output" example:"1ef2797c28a7679ca8e62693642513a44bed07bc37cdef73d4cd29956b4f83a5"`
	Index int    `expr:"index" doc:"position among the outputs of that transaction" example:"0"`
}

// blockFields are the fields of a block in expressions. For the genesis, which is in no block, only the height is set.
type blockFields struct {
	Height  int    `expr:"height" doc:"block number; 0 for genesis" example:"12278963"`
	Hash    []byte `expr:"hash" doc:"its hash" example:"9ee8a1cfa7f8abbe40c8e72325c60a02c8dab5bd3909a81dd384ca64e043b322"`
	Time    int    `expr:"time" doc:"start of its slot in unix seconds" example:"1755627965"`
	Slot    int    `expr:"slot" doc:"its slot" example:"164061674"`
	Epoch   int    `expr:"epoch" doc:"the epoch of its slot" example:"577"`
	Era     string `expr:"era" doc:"byron, shelley, allegra, mary, alonzo, babbage, conway or dijkstra" example:"conway"`
	Issuer  []byte `expr:"issuer" doc:"key of the block issuer, 32 bytes, in Byron 64" example:"5efcfe47ba8846f293938fc3f44cb842ace6412c9f740ad91abfec3873505fb1"`
	Pool    string `expr:"pool" doc:"the pool that made it, pool1…; empty in Byron" example:"pool1spus7k8cy5qcs82xhw60dwwk2d4vrfs0m5vr2zst04gtq700gjn"`
	Size    int    `expr:"size" doc:"bytes" example:"9543"`
	TxCount int    `expr:"tx_count" doc:"number of transactions" example:"8"`
}
