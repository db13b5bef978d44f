package block

import "encoding/binary"

// Parts are the fields of a serialized transaction. They point into it.
type Parts struct {
	Version, LockTime uint32
	Coinbase          bool
	Inputs            []InputPart
	Outputs           [][]byte // scripts, without assets
}

// InputPart is an input of a serialized transaction.
type InputPart struct {
	Script   []byte
	Sequence uint32
	Witness  [][]byte
}

// Parts returns the fields of a transaction that is not in a block.
func (f *Format) Parts(raw []byte) (*Parts, error) {
	s, err := f.span(raw)
	if err != nil {
		return nil, err
	}
	p := &Parts{Version: f.Version(binary.LittleEndian.Uint32(raw[s.Start:])), LockTime: binary.LittleEndian.Uint32(raw[s.Lock:])}
	inputs, at := Count(raw, s.Body)
	for i := range inputs {
		p.Coinbase = p.Coinbase || i == 0 && f.isCoinbase(raw[at:at+36])
		var in InputPart
		in.Script, at = counted(raw, at+36)
		in.Sequence = binary.LittleEndian.Uint32(raw[at:])
		p.Inputs, at = append(p.Inputs, in), at+4
	}
	outputs, at := Count(raw, s.Outputs)
	for range outputs {
		value := binary.LittleEndian.Uint64(raw[at:])
		var script []byte
		script, at = counted(raw, at+8)
		_, script, _ = f.output(value, script)
		p.Outputs = append(p.Outputs, script)
	}
	if s.Witness {
		EachWitness(raw, at, inputs, func(i int, items WitnessItems) { p.Inputs[i].Witness, _ = items.appendFirst(nil, items.count) })
	}
	return p, nil
}

// counted returns the bytes after their count, and the offset after them.
func counted(raw []byte, at int) (b []byte, next int) {
	n, at := Count(raw, at)
	return raw[at : at+n], at + n
}
