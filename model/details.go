package model

// TxDescriber is a chain that reads the details of serialized transactions.
type TxDescriber interface {
	// DescribeTx returns the details of the transaction whose [Tx.Raw] is raw. inputs and outputs are the values of the
	// spent and the created outputs by the name of the index, as answers have them; nil: unknown.
	DescribeTx(raw []byte, inputs, outputs []map[string]any) (*TxDescription, error)
}

// TxDescription has the details that only a serialized transaction contains, as JSON.
type TxDescription struct {
	TxDetails
	Inputs  []InputDetails  // of the inputs that spend an output; nil if the chain has none
	Outputs []OutputDetails // of the created outputs; nil if they cannot be read
}

// TxDetails are the details of a transaction. Absent fields do not exist on its chain or in the transaction. Bytes and
// hashes are hex, amounts decimal.
type TxDetails struct {
	Version      *uint32 `json:"version,omitempty"`
	Locktime     *uint32 `json:"locktime,omitempty"`
	VSize        int     `json:"vsize,omitempty"`         // a quarter of Weight, rounded up
	Weight       int     `json:"weight,omitempty"`        // BIP 141
	CoinbaseText string  `json:"coinbase_text,omitempty"` // readable text in the script of a coinbase

	Valid           *bool             `json:"valid,omitempty"` // whether its scripts succeeded; if not, it spent the collateral
	ValidFrom       *uint64           `json:"valid_from,omitempty"`
	ValidTo         *uint64           `json:"valid_to,omitempty"` // the first slot in which it is no longer valid
	Metadata        map[string]any    `json:"metadata,omitempty"` // by label
	Certificates    []Certificate     `json:"certificates,omitempty"`
	Withdrawals     []Withdrawal      `json:"withdrawals,omitempty"`
	Votes           []Vote            `json:"votes,omitempty"`
	Proposals       []Proposal        `json:"proposals,omitempty"`
	ReferenceInputs []OutputReference `json:"reference_inputs,omitempty"`
	Collateral      []OutputReference `json:"collateral,omitempty"`
	RequiredSigners []string          `json:"required_signers,omitempty"`
	Redeemers       []Redeemer        `json:"redeemers,omitempty"`
	Datums          []EncodedValue    `json:"datums,omitempty"` // that its witnesses contain, by hash
	Scripts         []ScriptDetails   `json:"scripts,omitempty"`

	DataInputs []string `json:"data_inputs,omitempty"` // boxes that it reads and does not spend
}

// InputDetails are the details of an input.
type InputDetails struct {
	Sequence  *uint32  `json:"sequence,omitempty"`
	ScriptSig *string  `json:"script_sig,omitempty"`
	Witness   []string `json:"witness,omitempty"`

	SpendingProof *string                 `json:"spending_proof,omitempty"` // empty: none is needed
	Extension     map[string]EncodedValue `json:"extension,omitempty"`      // by the number of the variable
}

// OutputDetails are the details of an output.
type OutputDetails struct {
	Script *string `json:"script,omitempty"`
	Type   string  `json:"type,omitempty"` // p2pk, p2pkh, p2sh, p2wpkh, p2wsh, p2tr, multisig, op_return, nonstandard

	DatumHash string         `json:"datum_hash,omitempty"` // also of an inline datum
	Datum     *EncodedValue  `json:"datum,omitempty"`      // inline
	ScriptRef *ScriptDetails `json:"script_ref,omitempty"`

	BoxID          string                  `json:"box_id,omitempty"`
	ErgoTree       string                  `json:"ergo_tree,omitempty"`
	CreationHeight *uint32                 `json:"creation_height,omitempty"` // as the transaction states it
	Registers      map[string]EncodedValue `json:"registers,omitempty"`       // R4 to R9
}

// EncodedValue is a serialized value and its meaning.
type EncodedValue struct {
	Hash  string `json:"hash,omitempty"`
	Raw   string `json:"raw"`
	Type  string `json:"type,omitempty"`
	Value any    `json:"value,omitempty"`

	Undecoded bool `json:"undecoded,omitempty"` // the value is null, or has null in place of a part, which is only in Raw
}

// OutputReference is an output that a transaction names and does not spend.
type OutputReference struct {
	Tx    string `json:"tx"`
	Index int    `json:"index"`
}

// Certificate is a change of stake, pools or governance (rule certificate of Cardano's CDDL).
type Certificate struct {
	Type          string   `json:"type"` // name in the CDDL without cert, such as stake_delegation
	StakeAddress  string   `json:"stake_address,omitempty"`
	Pool          string   `json:"pool,omitempty"`
	DRep          string   `json:"drep,omitempty"`       // CIP-129, abstain or no_confidence
	Credential    string   `json:"credential,omitempty"` // of a committee member (CIP-129)
	HotCredential string   `json:"hot_credential,omitempty"`
	Deposit       string   `json:"deposit,omitempty"` // paid or returned, in lovelace
	Epoch         *uint64  `json:"epoch,omitempty"`
	Pledge        string   `json:"pledge,omitempty"`
	Cost          string   `json:"cost,omitempty"`
	Margin        string   `json:"margin,omitempty"` // a fraction: 1/20
	RewardAddress string   `json:"reward_address,omitempty"`
	Owners        []string `json:"owners,omitempty"` // stake addresses
	URL           string   `json:"url,omitempty"`    // of a document about a pool, a DRep or a resignation
	Hash          string   `json:"hash,omitempty"`   // of the document
	Raw           string   `json:"raw"`
}

// Withdrawal is an amount of rewards that a transaction spends.
type Withdrawal struct {
	Address string `json:"address"`
	Amount  string `json:"amount"`
}

// Vote is a vote on a governance action.
type Vote struct {
	Voter  string `json:"voter"`  // a committee member or a DRep (CIP-129), or a pool
	Action string `json:"action"` // CIP-129
	Choice string `json:"choice"` // yes, no, abstain
}

// Proposal is a proposed governance action.
type Proposal struct {
	Action        string       `json:"action"`                   // CIP-129
	Type          string       `json:"type"`                     // name in the CDDL, such as info_action; unknown_7
	Deposit       string       `json:"deposit,omitempty"`        // in lovelace
	ReturnAddress string       `json:"return_address,omitempty"` // stake address to which the deposit returns
	Withdrawals   []Withdrawal `json:"withdrawals,omitempty"`    // from the treasury
	URL           string       `json:"url,omitempty"`            // of the document that explains it
	Hash          string       `json:"hash,omitempty"`           // of the document

	Previous     string            `json:"previous,omitempty"`     // action of the same purpose that it follows (CIP-129)
	Parameters   []ParameterChange `json:"parameters,omitempty"`   // of the protocol
	Version      string            `json:"version,omitempty"`      // of the protocol, after a hard fork: 11.0
	Removed      []string          `json:"removed,omitempty"`      // members of the committee
	Added        []CommitteeTerm   `json:"added,omitempty"`        // members of the committee
	Quorum       string            `json:"quorum,omitempty"`       // of the committee: 2/3
	Constitution *Constitution     `json:"constitution,omitempty"` // the new one

	Raw string `json:"raw"`
}

// ParameterChange is the new value of a protocol parameter.
type ParameterChange struct {
	Name  string `json:"name"`  // that of Blockfrost; unknown_99 for the key 99 of a later era
	Value string `json:"value"` // a number, a ratio such as 1/100, or the languages of cost models; CBOR in hex if unknown
}

// CommitteeTerm is a member of the committee.
type CommitteeTerm struct {
	Member  string `json:"member"`        // cold credential (CIP-129)
	Expires uint64 `json:"expires_epoch"` // last epoch of the term
}

// Constitution is a document, and the script that checks proposals.
type Constitution struct {
	URL    string `json:"url"`
	Hash   string `json:"hash"` // of the document
	Script string `json:"script_hash,omitempty"`
}

// Redeemer is the argument of a script and the limits of its execution.
type Redeemer struct {
	Purpose string           `json:"purpose"`               // spend, mint, cert, reward, vote, propose, guard
	Index   uint64           `json:"index"`                 // in the sorted inputs, policies and so on
	Output  *OutputReference `json:"output,omitempty"`      // that the input spends, if the purpose is spend
	Script  string           `json:"script_hash,omitempty"` // absent if it is unknown
	Data    EncodedValue     `json:"data"`
	Memory  uint64           `json:"memory"` // limits
	Steps   uint64           `json:"steps"`
	Fee     string           `json:"fee,omitempty"` // for the limits, part of the fee of the transaction; public networks only
}

// ScriptDetails is a script: a reference script or a witness.
type ScriptDetails struct {
	Language string `json:"language"` // native, plutus_v1, plutus_v2, plutus_v3, plutus_v4
	Hash     string `json:"hash"`
	Raw      string `json:"raw"`
}
