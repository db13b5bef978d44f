package model

import (
	"context"
	"io"
	"iter"
)

// Traits are the properties of a chain that the core, the API and the command line depend on.
type Traits struct {
	// Unit is the unit in which amounts of the chain's own coin are displayed.
	Unit Unit
	// Accent is the chain's colours in the explorer; the zero value selects the default colours.
	Accent Accent
	// SpendIndex names the one-to-one index whose values the inputs name. Empty: inputs name outpoints.
	SpendIndex string
	// ImpliedBurns: what goes into a transaction of an asset and does not come out is burned, no field says so.
	ImpliedBurns bool
	// Coinbase: a transaction that spends nothing is a coinbase.
	Coinbase bool
	// OutputOffset: the outputs of a transaction may begin at another index than 0 ([Tx.FirstOutput]).
	OutputOffset bool
	// FeeOutputs: fees are paid to outputs, so inputs minus outputs is not the fee. A transaction that states none has an
	// unknown one.
	FeeOutputs bool
	// Fingerprint is the short name of assets; nil where they have none.
	Fingerprint *Fingerprint
	// DeepestFork is the most blocks a fork can take off the chain, 0 where there is no such bound. A source is told
	// of so many of the newest blocks one by one.
	DeepestFork int
}

// Unit is a unit in which amounts are displayed. The zero Unit displays the integer amount.
type Unit struct {
	Symbol   string // written after the amount, e.g. BTC; may be empty
	Decimals int    // one Symbol is 10^Decimals smallest units
	Smallest string // the smallest unit as abbreviated in fee rates, e.g. sat; may be empty
}

// Accent is the colours of a chain's links and highlights, each as a CSS colour (#rrggbb).
type Accent struct {
	Light, LightWash string // foreground and background on light pages
	Dark, DarkWash   string // foreground and background on dark pages
}

// Fingerprint is a second, short name that a chain's assets have: a hash of the id, the same for every occurrence and
// another for every asset (Cardano: CIP-14).
type Fingerprint struct {
	Of     func(id []byte) []byte // at most 64 bytes
	Format func(fingerprint []byte) string
	// Parse reads what Format writes. Nil without an error: the text is not meant as a fingerprint.
	Parse func(text string) ([]byte, error)
}

// SourceOptions say where blocks come from and what is wanted of them.
type SourceOptions struct {
	URI string
	// Password of sources that ask for one and whose URI has none; nil: there is none. It is asked for again when the
	// source was refused: a node's cookie changes when it restarts. One that holds a colon is user:password.
	Password func() (string, error)
	// Known is what the database has, as [Source.Follow] is told again: for sources that look around before.
	Known []Point
	// Header is [Block.Header] of the database's block at a height, nil if it has none; nil: there is no database.
	Header  func(context.Context, HeightPk) ([]byte, error)
	Indexes []string // the values that are wanted; [Key.Index] is the position in here
	Raw     bool     // [Tx.Raw] is wanted
	Workers int      // goroutines that decode; 0: one for each processor
	Memory  int64    // bytes of blocks that may be under way at once; 0: a modest default
	Follow  bool     // stay at the tip instead of ending there
	To      *HeightPk
	// Outage is told of each error that the source waits out, and nil once that is over; nil: nobody is.
	Outage func(error)
}

// Source yields what happens on a chain.
type Source interface {
	// Tip is the newest block the source has, the origin where it has none.
	Tip(ctx context.Context) (Point, error)

	// Follow yields what happened after the newest of known that the source still has (known is ordered newest
	// first; the origin is implied at its end): a rollback to that point first where it is not known[0], then
	// blocks in order, each the child of the one before, and rollbacks where the source changes its mind. One that
	// begins with a rollback to known[0] says that it has that: what it goes back to later is no search any more.
	// It ends at the tip, or never where [SourceOptions.Follow] is set. After an error it ends.
	Follow(ctx context.Context, known []Point) iter.Seq2[Event, error]

	// Close frees what the source holds. Follow must have ended.
	Close() error
}

// BlockReader is a source that can be asked for single blocks, with the values of the indexes it was opened with.
// Several goroutines may ask at once.
type BlockReader interface {
	// BlockAt is the block at height h of the source's best chain. NotFound (unknown_block) where it has none.
	BlockAt(ctx context.Context, h HeightPk) (*Block, error)
}

// ChildReader is a source that finds a block by the one before it, with the values of the indexes it was opened with:
// on chains whose nodes know blocks by slot and hash and not by height. Several goroutines may ask at once.
type ChildReader interface {
	// Child is the block after a point of the source's best chain; after the origin its first, with the genesis.
	// NotFound (unknown_block) where the point is not on that chain, or nothing comes after it.
	Child(ctx context.Context, after Point) (*Block, error)
}

// UnspentCounter is a source that can say what is unspent on its chain.
type UnspentCounter interface {
	// Unspent counts the outputs that can be spent, and their value, at the source's tip. NotFound (not_offered)
	// where the node does not count them after all.
	Unspent(ctx context.Context) (UnspentTotals, error)
}

// UnspentTotals is what is unspent after the block At. Outputs that can never be spent may be left out.
type UnspentTotals struct {
	At      Point
	Outputs uint64
	Value   uint64
}

// Chain is one chain on one network.
type Chain interface {
	Name() string    // bitcoin
	Network() string // mainnet
	Traits() Traits
	Indexes() []Index // all it offers, in the order of their importance, then those that were defined

	// Define is the chain with indexes of one's own besides those it offers; its sources and Decode know them by name.
	// An error of kind [Usage] where an expression or a name cannot be.
	Define(ds []Definition) (Chain, error)

	FormatHash(Hash) string
	ParseHash(string) (Hash, error)
	FormatAsset(id []byte) string
	ParseAsset(string) ([]byte, error)

	// Header is a block's header as the `header` object of a block's JSON; raw is [Block.Header].
	Header(raw []byte) (any, error)

	// Supply is the most that can have been issued up to and including height, genesis included.
	// exact: it is also the least. Not ok where the chain's blocks do not tell.
	Supply(height HeightPk) (amount uint64, exact, ok bool)

	// Open opens the source a URI names. An error of kind [Usage] where the URI is not one of the chain's.
	Open(ctx context.Context, o SourceOptions) (Source, error)

	// Decode yields the blocks in r, whatever form they have there (raw bytes, hex, block file, node JSON),
	// with the values of indexes. The heights are counted from first where the form does not tell them.
	Decode(ctx context.Context, r io.Reader, indexes []string, first HeightPk) iter.Seq2[*Block, error]
}

// HeaderHasher is a chain whose block hashes are hashes of the header: a check of a database recomputes them.
type HeaderHasher interface {
	// HashHeader is the hash of the block whose [Block.Header] is raw.
	HashHeader(raw []byte) (Hash, error)
}

// HeaderChecker is a chain whose blocks are checked against those before them, whatever source they come from.
type HeaderChecker interface {
	// CheckHeader returns an error of kind [BadSource] that names b's height and hash if b cannot continue the chain. The
	// link to the parent was checked. before returns [Block.Header] of the block at a height below b's, nil if there is
	// none; its errors are returned wrapped.
	CheckHeader(b *Block, before func(HeightPk) ([]byte, error)) error
}

// TxHasher is a chain whose transactions' hashes are of their bytes: a check of a database recomputes them.
type TxHasher interface {
	// HashTx is the hash of the transaction whose [Tx.Raw] is raw. NotFound (not_told) where that cannot be told from
	// bytes of this form.
	HashTx(raw []byte) (Hash, error)
}

// TxWeigher is a chain whose fees are paid by weight and not by bytes (BIP 141).
type TxWeigher interface {
	// WeighTx is the weight of the transaction whose [Tx.Raw] is raw, and its virtual size in bytes: a quarter of the
	// weight, rounded up.
	WeighTx(raw []byte) (weight, vsize int, err error)
}

// AssetDescriber is a chain whose mints say something of their assets ([Mint.Info]).
type AssetDescriber interface {
	// DescribeAsset reads what a mint said. It never fails: anybody may write anything there.
	DescribeAsset(info []byte) AssetDescription
}

// AssetNamer is a chain whose asset ids contain a name or belong to a group.
type AssetNamer interface {
	// AssetName reads the name and the group from an asset's id.
	AssetName(id []byte) AssetName
}

// AssetName is what an asset's id contains. Names are not unique.
type AssetName struct {
	Name       string // printable text; empty if the id has none
	Group      string // e.g. the policy id (Cardano), in the text form of GroupIndex; empty if there is none
	GroupIndex string // the index of outputs by group; a database may not have it
}

// AssetDescription is what the one who minted an asset says of it. Nobody has checked it: two assets can have the same
// name.
type AssetDescription struct {
	Name        string // empty: none
	Description string // empty: none
	Decimals    *int   // places behind the decimal point at which people write amounts; nil: not said
}
