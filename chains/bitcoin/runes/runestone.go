package runes

import "birthmark/model"

// Option is a value that can be absent.
type Option[T any] struct {
	Value T
	OK    bool
}

// Some returns a value that is present.
func Some[T any](value T) Option[T] { return Option[T]{value, true} }

// Runestone is a message. If it has a flaw it is a cenotaph: it burns the runes that it mints and those of the inputs.
// Its fields except Etching.Name and Mint are then zero.
type Runestone struct {
	Flaw    Flaw
	Etching *Etching // nil: none
	Mint    Option[ID]
	Pointer Option[uint32] // the output that gets what no edict moves
	Edicts  []Edict
}

// Edict moves an amount of a rune to an output.
type Edict struct {
	ID     ID            // zero: the rune that the transaction creates
	Amount model.Uint128 // 0: all that is left
	Output uint32        // the number of outputs: to each output that is not OP_RETURN
}

// Etching creates a rune.
type Etching struct {
	Name         Option[Name] // absent: a reserved name
	Spacers      uint32
	Symbol       Option[rune]
	Divisibility uint8 // decimals of displayed amounts, at most [MaxDivisibility]
	Premine      model.Uint128
	Terms        Option[Terms] // absent: the rune cannot be minted
	Turbo        bool
}

// Terms are the conditions under which everybody can mint a rune.
type Terms struct {
	Amount Option[model.Uint128] // of one mint
	Cap    Option[model.Uint128] // number of mints
	Height Range                 // heights of blocks
	Offset Range                 // relative to the block in which the rune was created
}

// Range has bounds that can be absent. The end does not belong to it.
type Range struct{ Start, End Option[uint64] }

// MaxDivisibility is the highest divisibility.
const MaxDivisibility = 38

// supply returns the most that can exist of the rune; ok is false if that exceeds 128 bits.
func (e *Etching) supply() (supply model.Uint128, ok bool) {
	minted, ok1 := e.Terms.Value.Cap.Value.Mul(e.Terms.Value.Amount.Value)
	supply, ok2 := minted.Add(e.Premine)
	return supply, ok1 && ok2
}

// Flaw is why a message is a cenotaph.
type Flaw uint8

// The flaws. NoFlaw is that of a valid message.
const (
	NoFlaw Flaw = iota
	EdictOutput
	EdictID
	InvalidScript
	Opcode
	SupplyOverflow
	TrailingIntegers
	TruncatedField
	UnrecognizedEvenTag
	UnrecognizedFlag
	Varint
)

// flawNames are the names of flaws in ord's JSON.
var flawNames = [...]string{
	"", "edict-output", "edict-rune-id", "invalid-script", "opcode", "supply-overflow", "trailing-integers",
	"truncated-field",
	"unrecognized-even-tag", "unrecognized-flag", "varint",
}

// String returns the name that ord gives the flaw, in kebab case.
func (f Flaw) String() string { return flawNames[f] }

// Tags of a message. A tag with an even number that is not known, or that has too many values, is a flaw.
const (
	tagBody         = 0
	tagDivisibility = 1
	tagFlags        = 2
	tagSpacers      = 3
	tagName         = 4
	tagSymbol       = 5
	tagPremine      = 6
	tagCap          = 8
	tagAmount       = 10
	tagHeightStart  = 12
	tagHeightEnd    = 14
	tagOffsetStart  = 16
	tagOffsetEnd    = 18
	tagMint         = 20
	tagPointer      = 22
	tags            = tagPointer + 1
)

// Flags are the bits of the value of tagFlags.
const (
	flagEtching = 1 << iota
	flagTerms
	flagTurbo
)
