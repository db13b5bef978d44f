package model

import (
	"context"
	"io"
	"iter"
	"slices"
	"time"
)

// Traits are the properties of a chain that the core, the API and the command line depend on.
type Traits struct {
	// Unit is the unit in which amounts of the chain's own coin are displayed.
	Unit Unit
	// Accent is the chain's colours in the explorer; the zero value selects the default colours.
	Accent Accent
	// SpendIndex is the name of the one-to-one index whose values inputs contain. If empty, inputs contain outpoints.
	SpendIndex string
	// ImpliedBurns: assets in a transaction's inputs that are not in its outputs are burned; no field states it.
	ImpliedBurns bool
	// ImpliedMints: assets in a transaction's outputs that are not in its inputs are minted; no field states it.
	ImpliedMints bool
	// Unordered: an input can spend an output of a later transaction of its block, as on Bitcoin Cash. All outputs of a
	// block are then known before its inputs are resolved. Rows stay in the order of the block, so the balance of a value
	// between two transactions can be negative. Other chains refuse such a block.
	Unordered bool
	// Coinbase: the first transaction of a block is a coinbase, if it has no inputs.
	Coinbase bool
	// OutputOffset: [Tx.FirstOutput] may differ from 0. Such transactions of other chains are refused, so that the check
	// of a database finds a missing first output.
	OutputOffset bool
	// FeeOutputs: fees are paid to outputs, so inputs minus outputs is not the fee. The fee of a transaction that
	// states none is unknown.
	FeeOutputs bool
	// FeeAddress is the address of outputs that are fees, as answers contain it; empty: none.
	FeeAddress string
	// Pool names what can receive value from inputs and provide value for outputs, such as "shielded pool"; empty:
	// nothing can. Inputs minus outputs is then not the fee either: set FeeOutputs.
	Pool string
	// BlockVSize is the maximum of virtual bytes of a block that miners fill by fee rate; 0: they do not, or the maximum
	// is not fixed.
	BlockVSize int
	// Fingerprint is the short name of assets; nil if they have none.
	Fingerprint *Fingerprint
	// Tokens are the rules that derive assets; nil: assets are in the blocks, or there are none.
	Tokens *Tokens
	// Pointers is the form of the pointers of the chain's databases. It cannot change while there are such databases.
	Pointers Pointers
	// DeepestFork is the maximum number of blocks that a reorganization can remove, 0 if unbounded. A source gets the
	// points of that many of the newest blocks.
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

// Fingerprint is a short name of an asset, derived from a hash of its id (Cardano: CIP-14), or from its description.
type Fingerprint struct {
	// Of returns at most 64 bytes; nil if the asset has no short name. info is [TokenBirth.Info]; nil on chains whose
	// assets are not derived.
	Of     func(id, info []byte) []byte
	Format func(fingerprint []byte) string
	// Parse parses the result of Format. It returns nil without an error if the text does not look like a fingerprint.
	Parse func(text string) ([]byte, error)
}

// SourceOptions configure a source.
type SourceOptions struct {
	URI string
	// Password returns the password of a source whose URI has none; nil if there is none. It is called again after the
	// node refused it, because a node's cookie changes when it restarts. A password with a colon is user:password.
	Password func() (string, error)
	// Proxy is a SOCKS5 proxy for connections to nodes and peers outside of this network, socks5://HOST:PORT; empty: none.
	Proxy string
	// Known is the known argument of the later [Source.Follow], for sources that search before.
	Known []Point
	// Header returns [Block.Header] of the database's block at a height, or nil if there is none. It is nil without a
	// database.
	Header  func(context.Context, HeightPk) ([]byte, error)
	Indexes []string // indexes whose values are requested; [Key.Index] is the position in this list
	Raw     bool     // sets [Tx.Raw]
	Places  bool     // sets [Block.Place]
	Workers int      // goroutines that decode; 0: one per processor
	Memory  int64    // limit of bytes of blocks that are fetched and not yet consumed; 0: the source's default
	// Room returns an error of kind [Machine] that names the setting if a block needs more memory than there is. bytes is
	// the memory for the block while it is decoded, resolved and written. nil: there is no limit.
	Room   func(bytes int64) error
	Follow bool      // wait for new blocks at the tip instead of ending
	To     *HeightPk // last block to yield; nil: no limit
	// Wait is how long a source that does not follow retries after an error of a node that is starting, busy or broken;
	// 0: two minutes, negative: not at all.
	Wait time.Duration
	// Outage, if not nil, is called with each error after which the source retries, and with nil after it recovered.
	Outage func(error)
	// Preparing, if not nil, is called while the source needs time to determine its tip, such as for headers of peers:
	// a short description, and how many of how many steps are done; total 0: unknown.
	Preparing func(what string, done, total uint64)
}

// Source yields the events of a chain.
type Source interface {
	// Tip returns the newest block of the source, or the origin if it has none.
	Tip(ctx context.Context) (Point, error)

	// Follow yields the events after the newest point of known that is on the source's chain. known is ordered from
	// newest to oldest; the origin is implied at its end. The first event is a rollback to that point unless it is
	// known[0]; a rollback to known[0] confirms that the source has it, so that later rollbacks are reorganizations.
	// Then blocks follow, each the child of the one before, and rollbacks when the source switches branches. Follow
	// ends at the tip, or runs until ctx ends if [SourceOptions.Follow] is set. It ends after the first error.
	Follow(ctx context.Context, known []Point) iter.Seq2[Event, error]

	// Close frees the source. Follow must have ended.
	Close() error
}

// BlockReader is a source with random access to blocks. It is safe for concurrent use.
type BlockReader interface {
	// BlockAt returns the block at height h of the source's best chain, with the values of the source's indexes. Its
	// errors are of kind [NotFound], code unknown_block, if there is none.
	BlockAt(ctx context.Context, h HeightPk) (*Block, error)
}

// ChildReader is a source that finds a block by its parent, for chains whose nodes identify blocks by slot and hash
// instead of by height. It is safe for concurrent use.
type ChildReader interface {
	// Child returns the block after a point of the source's best chain, with the values of the source's indexes; after
	// the origin the first block with the genesis. Its errors are of kind [NotFound], code unknown_block, if the point
	// is not on that chain or is its tip.
	Child(ctx context.Context, after Point) (*Block, error)
}

// Measurer is a source that knows the size of its chain. Progress by it is even, unlike by blocks: the first years of a
// chain have nearly empty blocks.
type Measurer interface {
	// Measure returns the size of the chain up to after, which is the origin or a block of the best chain, and up to
	// the block at height to, at most that of the tip. It returns the zero value if the size is unknown.
	Measure(ctx context.Context, after Point, to HeightPk) (Extent, error)
}

// Extent is the position of a block in a chain, by size.
type Extent struct {
	Txs         bool   // the unit is a transaction, else a byte of [Block.SourceSize]
	Done, Total uint64 // Total 0: unknown
}

// BlockIndexer is a chain with indexes of kind [PerBlock].
type BlockIndexer interface {
	BlockIndexes() []Index
}

// AllIndexes returns the indexes that databases of a chain can have: indexes of outputs, then of blocks.
func AllIndexes(c Chain) []Index {
	all := c.Indexes()
	if b, ok := c.(BlockIndexer); ok {
		all = slices.Concat(all, b.BlockIndexes())
	}
	if slices.ContainsFunc(all, func(x Index) bool { return x.Kind == Sums }) {
		return all // of a chain for tests
	}
	return append(slices.Clip(all), Statistics())
}

// UnspentCounter is a source that can count the unspent outputs of its chain.
type UnspentCounter interface {
	// Unspent returns the number and the value of the spendable outputs at the source's tip. Its errors are of kind
	// [NotFound], code not_offered, if the node does not support it.
	Unspent(ctx context.Context) (UnspentTotals, error)
}

// UnspentTotals are the unspent outputs after block At. Provably unspendable outputs may be left out.
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
	Indexes() []Index // the built-in indexes in order of importance, then custom ones

	// Define returns the chain with custom indexes, which its sources and Decode accept by name. They replace those of
	// an earlier Define. Its errors are of kind [Usage] if a name or an expression is invalid.
	Define(ds []Definition) (Chain, error)

	FormatHash(Hash) string
	ParseHash(string) (Hash, error)
	FormatAsset(id []byte) string
	ParseAsset(string) ([]byte, error)

	// Header parses [Block.Header] into the `header` object of a block's JSON.
	Header(raw []byte) (any, error)

	// Supply returns the maximum amount issued up to and including height, genesis included, in the smallest unit.
	// exact reports whether it is also the minimum. ok is false if it cannot be derived from the height.
	Supply(height HeightPk) (amount uint64, exact, ok bool)

	// Open opens the source of a URI. Its errors are of kind [Usage] if the chain does not support the URI.
	Open(ctx context.Context, o SourceOptions) (Source, error)

	// Decode yields the blocks in r with the values of indexes. It detects the format: raw bytes, hex, block file or
	// node JSON. Heights count from first if the format does not contain them.
	Decode(ctx context.Context, r io.Reader, indexes []string, first HeightPk) iter.Seq2[*Block, error]
}

// HeaderHasher is a chain whose block hash is a hash of the header. The check of a database recomputes it.
type HeaderHasher interface {
	// HashHeader returns the hash of the block whose [Block.Header] is raw.
	HashHeader(raw []byte) (Hash, error)
}

// Reviser is a chain whose outputs have other values of some indexes than in an earlier release.
type Reviser interface {
	// Revision is the number of such changes. A database stores the number that its values have.
	Revision() uint64
	// Outdated reports whether a value that an earlier release stored in an index is a different one now. The values of
	// one index must show every output that changed, in whatever index.
	Outdated(index string, value []byte) bool
}

// HeaderChecker is a chain that validates each block against its predecessors, for every kind of source. The core calls
// it, because it has every header, also after a restart. Block 0, the magic and the name of a node do not distinguish
// Bitcoin from chains that share its beginning.
type HeaderChecker interface {
	// CheckHeader returns an error of kind [BadSource] that names b's height and hash if b cannot continue the chain.
	// The link to the parent was checked. before returns [Block.Header] of the block at a height below b's, nil if
	// there is none; its errors are returned wrapped.
	CheckHeader(b *Block, before func(HeightPk) ([]byte, error)) error
}

// TxHasher is a chain whose transaction hash is a hash of the serialized transaction. The check of a database
// recomputes it.
type TxHasher interface {
	// HashTx returns the hash of the transaction whose [Tx.Raw] is raw. Its errors are of kind [NotFound], code
	// not_told, if the hash cannot be derived from raw.
	HashTx(raw []byte) (Hash, error)
}

// TxWeigher is a chain whose fee rates are per unit of weight (BIP 141).
type TxWeigher interface {
	// WeighTx returns the weight of the transaction whose [Tx.Raw] is raw, and its virtual size in bytes, which is a
	// quarter of the weight, rounded up.
	WeighTx(raw []byte) (weight, vsize int, err error)
}

// Period is a part of a chain that has one difficulty, or one set of parameters.
type Period struct {
	Name    string // such as epoch
	Number  uint64 // from 0
	Unit    string // of Done and Length: block or slot
	Done    uint64 // of the period, up to and including the block
	Length  uint64
	Seconds float64 // that a unit takes, or is meant to take
	// Proportional: the next difficulty is the difficulty times the ratio of the intended to the actual duration of the
	// blocks of the period, at least a quarter and at most four times the difficulty.
	Proportional bool
}

// PeriodReporter is a chain that is divided into periods.
type PeriodReporter interface {
	// Period returns the period of the block with a height and a [Block.Header]; ok is false if the network has none.
	Period(height HeightPk, header []byte) (p Period, ok bool, err error)
}

// DifficultyReporter is a chain whose blocks have a difficulty.
type DifficultyReporter interface {
	// Difficulty returns the difficulty that a [Block.Header] states, in the unit of the chain.
	Difficulty(header []byte) (float64, error)

	// Hashes returns the expected number of hashes for a block per unit of difficulty, and the unit of a number of them
	// per second, such as H/s. It is 0 if hashes of blocks cannot be compared: there are several algorithms, or none.
	Hashes() (number float64, perSecond string)
}

// AssetDescriber is a chain whose mints describe their assets ([Mint.Info]).
type AssetDescriber interface {
	// DescribeAsset parses [Mint.Info]. It returns what it can parse: the contents are arbitrary.
	DescribeAsset(info []byte) AssetDescription
}

// AssetNamer is a chain whose asset ids contain a name or belong to a group.
type AssetNamer interface {
	// AssetName reads the name and the group from an asset's id.
	AssetName(id []byte) AssetName
}

// AssetName is the name in an asset's id. Names are not unique.
type AssetName struct {
	Name       string // printable text; empty if the id has none
	Group      string // e.g. the policy id (Cardano), in the text form of GroupIndex; empty if there is none
	GroupIndex string // the index of outputs by group; a database may not have it
}

// AssetDescription is the issuer's description of an asset. It is unverified, and names are not unique.
type AssetDescription struct {
	Name        string // may be empty
	Description string // may be empty
	Decimals    *int   // decimal places of displayed amounts; nil if not stated
}
