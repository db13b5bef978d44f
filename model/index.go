package model

// Kind is the relation between the values of an index and outputs.
type Kind uint8

const (
	OneToMany  Kind = iota // an output has at most one value, a value occurs in any number of outputs
	OneToOne               // a value occurs in one output only
	ManyValued             // an output has any number of values, a value occurs in any number of outputs

	// PerBlock is the kind of indexes whose values are in headers instead of outputs: a block has at most one, a value
	// occurs in any number of blocks. See [BlockIndexer].
	PerBlock
	// Sums is the kind of the index [StatisticsIndex]: it has sums of blocks and days, and no values.
	Sums
)

var kindNames = [...]string{"one-to-many", "one-to-one", "many-valued", "per-block", "sums"}

// String returns the kind as written in settings and results.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown kind"
}

// Valid reports whether k is a kind of indexes whose values are in outputs.
func (k Kind) Valid() bool { return k < PerBlock }

// HasOrdinal reports whether births of the index have an ordinal.
func (k Kind) HasOrdinal() bool { return k == ManyValued }

// StatisticsIndex is the name of an index of every chain: sums of its blocks and days.
const StatisticsIndex = "statistics"

// Statistics returns the index of statistics.
func Statistics() Index {
	return Index{
		Name: StatisticsIndex, Kind: Sums,
		Doc: "sums per block and day: transactions, fees, bytes, inputs, outputs, values, unspent outputs, assets",
	}
}

// MaxValueSize is the maximum size in bytes of a value that is stored verbatim: see [Index].
const MaxValueSize = 32 << 10

// Index is a secondary index: values that occur in outputs. Values are stored as the chain's adapter returns them, up
// to [MaxValueSize] bytes, and displayed as Format formats them.
type Index struct {
	Name    string // snake case; used in settings, commands and names of families
	Kind    Kind
	Default bool   // enabled if the settings list no indexes
	Always  bool   // always enabled
	Doc     string // one line of help

	// Expressions that select the values of an output: see [Definition]. Built-in indexes refer to one field;
	// empty: no field has their values.
	When, Value string
	Custom      bool // defined by the user ([Chain.Define])

	// OfHeader returns the value of a block by its [Block.Header], nil if it has none, for indexes of kind [PerBlock].
	OfHeader func(header []byte) ([]byte, error)

	Format func(value []byte) string
	Parse  func(text string) ([]byte, error) // errors state what is expected

	// Types returns what a value states about itself, such as P2WPKH or script; nil: nothing.
	Types func(value []byte) []string
	// Forms returns the types of outputs that have a value, if their scripts differ: first that of an output which pays to
	// the value. Nil: all have the same.
	Forms func(value []byte) []Form
	// Scheme is the scheme of URIs that request a payment to a value (BIP 21); empty: there are none.
	Scheme string
}

// TypesOf returns what a text of a value states about itself; nil if that is nothing.
func (x *Index) TypesOf(text string) []string {
	if x.Types == nil {
		return nil
	}
	value, err := x.Parse(text)
	if err != nil {
		return nil
	}
	return x.Types(value)
}

// Form is a type of outputs that have a value of an index.
type Form struct {
	Name   string            // such as P2PK
	Detail string            // their [OutputDetails.Type]
	Keys   map[string]string // by index: the value that they have, and outputs of other forms do not
	Own    []string          // of Keys: indexes whose value no other output of the chain has
	One    string            // the sentence about one of them, which begins with a number, for people; empty: none
	Many   string            // about several of them
}

// FormsOf returns the forms of a text of a value; nil if all outputs that have it are of one type.
func (x *Index) FormsOf(text string) []Form {
	if x.Forms == nil {
		return nil
	}
	value, err := x.Parse(text)
	if err != nil {
		return nil
	}
	return x.Forms(value)
}

// Definition is a custom index: expressions over the fields of an output, its transaction and its block.
type Definition struct {
	Name  string // snake case; not the name of a built-in index
	Kind  Kind
	When  string // condition on outputs; empty: all
	Value string // the value, or for [ManyValued] the list of values; empty and nil values are skipped
}

// Definition returns the definition of a custom index; ok is false for a built-in one.
func (x *Index) Definition() (d Definition, ok bool) {
	return Definition{x.Name, x.Kind, x.When, x.Value}, x.Custom
}

// IndexOptions select additional families of an index, beyond its values and their occurrences.
type IndexOptions struct {
	Balance bool `yaml:"balance" json:"balance"` // balance, received and sent amounts of every value, including assets
	Unspent bool `yaml:"unspent" json:"unspent"` // the unspent outputs of every value
	History bool `yaml:"history" json:"history"` // the transactions that pay to or spend from every value
	Prefix  bool `yaml:"prefix" json:"prefix"`   // the values in the order of their text forms

	// Statistics are the numbers of new and active values per block and per day.
	Statistics bool `yaml:"statistics" json:"statistics"`
}

// Has reports whether o includes all options of o2.
func (o IndexOptions) Has(o2 IndexOptions) bool {
	return (o.Balance || !o2.Balance) && (o.Unspent || !o2.Unspent) && (o.History || !o2.History) && (o.Prefix || !o2.Prefix) &&
		(o.Statistics || !o2.Statistics)
}
