package model

// Kind says how values of an index and outputs belong together.
type Kind uint8

const (
	OneToMany  Kind = iota // an output has at most one value, a value any number of outputs
	OneToOne               // a value occurs in one output only
	ManyValued             // an output has any number of values, a value any number of outputs
)

var kindNames = [...]string{"one-to-many", "one-to-one", "many-valued"}

// String is the kind as settings and answers write it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown kind"
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return int(k) < len(kindNames) }

// Wide reports whether births of the index carry an ordinal.
func (k Kind) HasOrdinal() bool { return k == ManyValued }

// MaxValueSize is the most bytes of a value that are kept as they are: see [Index].
const MaxValueSize = 32 << 10

// Index is a secondary index a chain offers: values that occur in outputs. Values are stored as the chain's
// adapter gives them, at most [MaxValueSize] bytes, and written as Format writes them.
type Index struct {
	Name    string // snake case; the name in settings, commands and families
	Kind    Kind
	Default bool   // on where the settings name no index
	Always  bool   // on whatever the settings name
	Doc     string // one line for people

	// The expressions that say which values an output has: see [Definition]. Those of a chain's own index name one field.
	When, Value string
	Custom      bool // it was defined ([Chain.Define])

	Format func(value []byte) string
	Parse  func(text string) ([]byte, error) // an error says what was expected
}

// Definition is an index as its user defines it: expressions over the fields of an output, its transaction and its block.
type Definition struct {
	Name  string // snake case, none that the chain offers
	Kind  Kind
	When  string // a condition; empty: every output
	Value string // the value, or for [ManyValued] the list of values; one that is empty or nil is none
}

// Definition of the index; ok where it has one of its user's.
func (x *Index) Definition() (d Definition, ok bool) {
	return Definition{x.Name, x.Kind, x.When, x.Value}, x.Custom
}

// IndexOptions are what a database can keep for an index besides its values and where they occur. Off, they cost nothing.
type IndexOptions struct {
	Balance bool `yaml:"balance" json:"balance"` // what every value holds, received and sent, assets included
	Unspent bool `yaml:"unspent" json:"unspent"` // the unspent outputs of every value
	History bool `yaml:"history" json:"history"` // the transactions that pay to or spend from every value
	Prefix  bool `yaml:"prefix" json:"prefix"`   // the values in the order of their texts
}

// Has reports whether all of o2 is in o.
func (o IndexOptions) Has(o2 IndexOptions) bool {
	return (o.Balance || !o2.Balance) && (o.Unspent || !o2.Unspent) && (o.History || !o2.History) && (o.Prefix || !o2.Prefix)
}
