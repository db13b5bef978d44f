package runes

import (
	"encoding/binary"
	"slices"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Script returns the output script of a valid message. Edicts are written in the order of their ids; those of one id
// keep their order.
func (s *Runestone) Script() []byte { return ScriptOf(s.payload()) }

// ScriptOf returns the output script of a message with a payload, which need not be valid.
func ScriptOf(payload []byte) []byte {
	script := []byte{block.OpReturn, block.OpRunestone}
	if len(payload) == 0 {
		return script
	}
	return appendPush(script, payload)
}

// appendPush appends the shortest push of data that has at least one byte.
func appendPush(script, data []byte) []byte {
	switch n := len(data); {
	case n < 0x4c:
		script = append(script, byte(n))
	case n <= 0xff:
		script = append(script, 0x4c, byte(n))
	case n <= 0xffff:
		script = binary.LittleEndian.AppendUint16(append(script, 0x4d), uint16(n))
	default:
		script = binary.LittleEndian.AppendUint32(append(script, 0x4e), uint32(n))
	}
	return append(script, data...)
}

// AppendTag appends a tag with a value to a payload.
func AppendTag(b []byte, tag uint64, value model.Uint128) []byte {
	return value.AppendUvarint(model.Uint128Of(tag).AppendUvarint(b))
}

func appendOption(b []byte, tag uint64, value Option[uint64]) []byte {
	if value.OK {
		b = AppendTag(b, tag, model.Uint128Of(value.Value))
	}
	return b
}

// appendNumber appends a tag whose absence means 0.
func appendNumber(b []byte, tag uint64, value model.Uint128) []byte {
	if !value.IsZero() {
		b = AppendTag(b, tag, value)
	}
	return b
}

func appendAmount(b []byte, tag uint64, value Option[model.Uint128]) []byte {
	if value.OK {
		b = AppendTag(b, tag, value.Value)
	}
	return b
}

func (s *Runestone) payload() []byte {
	var b []byte
	if s.Etching != nil {
		b = s.Etching.appendTo(b)
	}
	if id := s.Mint.Value; s.Mint.OK {
		b = AppendTag(b, tagMint, model.Uint128Of(id.Block))
		b = AppendTag(b, tagMint, model.Uint128Of(uint64(id.Tx)))
	}
	b = appendOption(b, tagPointer, Option[uint64]{uint64(s.Pointer.Value), s.Pointer.OK})
	if len(s.Edicts) == 0 {
		return b
	}
	b = append(b, tagBody)
	edicts := slices.Clone(s.Edicts)
	slices.SortStableFunc(edicts, func(a, b Edict) int { return a.ID.Compare(b.ID) })
	var last ID
	for _, e := range edicts {
		block, tx := last.delta(e.ID)
		b = model.Uint128Of(block).AppendUvarint(b)
		b = model.Uint128Of(uint64(tx)).AppendUvarint(b)
		b = e.Amount.AppendUvarint(b)
		b = model.Uint128Of(uint64(e.Output)).AppendUvarint(b)
		last = e.ID
	}
	return b
}

func (e *Etching) appendTo(b []byte) []byte {
	flags := uint64(flagEtching)
	if e.Terms.OK {
		flags |= flagTerms
	}
	if e.Turbo {
		flags |= flagTurbo
	}
	b = AppendTag(b, tagFlags, model.Uint128Of(flags))
	b = appendAmount(b, tagName, Option[model.Uint128]{model.Uint128(e.Name.Value), e.Name.OK})
	b = appendNumber(b, tagDivisibility, model.Uint128Of(uint64(e.Divisibility)))
	b = appendNumber(b, tagSpacers, model.Uint128Of(uint64(e.Spacers)))
	b = appendOption(b, tagSymbol, Option[uint64]{uint64(e.Symbol.Value), e.Symbol.OK})
	b = appendNumber(b, tagPremine, e.Premine)
	if t := e.Terms.Value; e.Terms.OK {
		b = appendAmount(b, tagAmount, t.Amount)
		b = appendAmount(b, tagCap, t.Cap)
		b = appendOption(b, tagHeightStart, t.Height.Start)
		b = appendOption(b, tagHeightEnd, t.Height.End)
		b = appendOption(b, tagOffsetStart, t.Offset.Start)
		b = appendOption(b, tagOffsetEnd, t.Offset.End)
	}
	return b
}
