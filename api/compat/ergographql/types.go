package ergographql

// object is the scalar JSONObject.
type object map[string]string

// ImplementsGraphQLType reports whether the type is that of the schema.
func (object) ImplementsGraphQLType(name string) bool { return name == "JSONObject" }

// UnmarshalGraphQL is not called: no argument is an object.
func (object) UnmarshalGraphQL(any) error { return bad("an object is no argument") }

// header is a Header.
type header struct {
	HeaderID, ParentID, NBits, Difficulty, Timestamp         string
	StateRoot, ADProofsRoot, TransactionsRoot, ExtensionHash string
	Version, Height                                          int32
	PowSolutions                                             object
	Votes                                                    []int32
	MainChain                                                bool
}

// box is a Box or an UnconfirmedBox.
type box struct {
	BoxID, TransactionID, Value, ErgoTree, Address string
	Index, CreationHeight                          int32
	ErgoTreeTemplateHash                           *string
	Assets                                         []asset
	AdditionalRegisters                            object
	BeingSpent                                     bool

	HeaderID, GlobalIndex string
	SettlementHeight      int32
	MainChain             bool
}

type asset struct {
	TokenID, Amount string
	Index           int32
}

// address is an Address.
type address struct {
	Address                       string
	Used                          bool
	Balance                       balance
	BoxesCount, TransactionsCount int32
}

type balance struct {
	NanoErgs string
	Assets   []held
}

type held struct {
	TokenID, Amount string
	Name            *string
	Decimals        *int32
}

// token is a Token.
type token struct {
	TokenID, BoxID, EmissionAmount string
	Box                            box
	Name, Description, Type        *string
	Decimals                       *int32
}

// state is a State.
type state struct {
	BlockID, BoxGlobalIndex, TransactionGlobalIndex, Difficulty, Network string
	Height                                                               int32
}

type info struct{ Version string }

// unconfirmedTx is an UnconfirmedTransaction.
type unconfirmedTx struct {
	TransactionID, Timestamp string
	Size                     int32
}
