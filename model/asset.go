package model

// MintDescriber is a chain whose serialized transactions describe the assets that they mint (Cardano: CIP-25 and CIP-68,
// Ergo: EIP-4).
type MintDescriber interface {
	// DescribeMint returns the description of an asset in a transaction that mints it, and in the first output that then
	// has it. Details can be empty. It returns what it can read: the contents are arbitrary.
	DescribeMint(id []byte, tx *TxDetails, o *OutputDetails) AssetMetadata
}

// AssetReferrer is a chain with assets that describe others: the output that holds the one has the metadata of the other
// (Cardano: CIP-68).
type AssetReferrer interface {
	// ReferenceAsset returns the id of the asset that describes an asset, which can be the asset itself; nil if there is
	// none. It need not exist. [MintDescriber] describes it by its newest output.
	ReferenceAsset(id []byte) []byte
}

// AssetMetadata is the issuer's description of an asset in serialized transactions. It is unverified.
type AssetMetadata struct {
	Type     string // such as picture; empty: not stated
	Image    string // URI of a picture, such as ipfs://… or https://…; empty: none
	Standard string // that defines the description, such as CIP-25; empty: no description
	Fields   []MetadataField
}

// MetadataField is an entry of a description.
type MetadataField struct{ Name, Value string }
