package runes_test

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"

	"birthmark/model"
)

// oracle derives runes in a second way, written from ord's source (crates/ordinals/src and
// src/index/updater/rune_updater.rs): numbers of any size, maps, and no limit on time. It shares no code with the
// package.
type oracle struct {
	first   uint64
	entries map[string]*oracleEntry // by id
	names   map[string]string       // ids by names as numbers
	outputs map[outpoint]*oracleOutput
}

type oracleEntry struct {
	number                                   int
	name, premine, mints, burned             *big.Int
	spacers, symbol, divisibility            string // numbers; symbol none: absent
	block                                    uint64
	terms, turbo                             bool
	amount, cap                              *big.Int // nil: absent
	heightStart, heightEnd, offStart, offEnd *big.Int
}

type oracleOutput struct {
	height  uint64
	taproot bool
	runes   map[string]*big.Int
}

func newOracle(first uint64) *oracle {
	return &oracle{first: first, entries: map[string]*oracleEntry{}, names: map[string]string{},
		outputs: map[outpoint]*oracleOutput{}}
}

// oracleMessage is an artifact.
type oracleMessage struct {
	cenotaph bool
	etching  *oracleEntry // its state is empty; name nil: none
	mint     string       // an id; empty: none
	pointer  *big.Int
	edicts   []oracleEdict
}

type oracleEdict struct {
	id             string
	amount, output *big.Int
}

var (
	bits128 = new(big.Int).Lsh(big.NewInt(1), 128)
	bits64  = new(big.Int).Lsh(big.NewInt(1), 64)
	bits32  = new(big.Int).Lsh(big.NewInt(1), 32)
)

// oraclePushes splits a script into data; opcode: an operation is no push. bad: it ends inside a push.
func oraclePushes(script []byte) (pushes [][]byte, opcode, bad bool) {
	for i := 0; i < len(script); {
		op := int(script[i])
		i++
		if op > 0x4e {
			if pushes = append(pushes, nil); !opcode {
				opcode = true
			}
			continue
		}
		size := op
		if op >= 0x4c {
			width := map[int]int{0x4c: 1, 0x4d: 2, 0x4e: 4}[op]
			if i+width > len(script) {
				return pushes, opcode, true
			}
			size = 0
			for k := width - 1; k >= 0; k-- {
				size = size*256 + int(script[i+k])
			}
			i += width
		}
		if i+size > len(script) {
			return pushes, opcode, true
		}
		pushes = append(pushes, append([]byte{}, script[i:i+size]...))
		i += size
	}
	return pushes, opcode, false
}

func (o *oracle) decode(scripts [][]byte) *oracleMessage {
	for _, script := range scripts {
		if !bytes.HasPrefix(script, []byte{0x6a, 0x5d}) {
			continue
		}
		pushes, opcode, bad := oraclePushes(script[2:])
		if opcode || bad {
			return &oracleMessage{cenotaph: true}
		}
		integers, ok := oracleIntegers(bytes.Join(pushes, nil))
		if !ok {
			return &oracleMessage{cenotaph: true}
		}
		return oracleMessageOf(integers, int64(len(scripts)))
	}
	return nil
}

func oracleIntegers(payload []byte) (all []*big.Int, ok bool) {
	for len(payload) > 0 {
		x, i := new(big.Int), 0
		for ; ; i++ {
			if i == len(payload) || i > 18 {
				return nil, false
			}
			x.Or(x, new(big.Int).Lsh(big.NewInt(int64(payload[i]&127)), uint(7*i)))
			if payload[i] < 128 {
				break
			}
		}
		if x.Cmp(bits128) >= 0 {
			return nil, false
		}
		all, payload = append(all, x), payload[i+1:]
	}
	return all, true
}

func oracleMessageOf(integers []*big.Int, outputs int64) *oracleMessage {
	m := &oracleMessage{}
	fields := map[string][]*big.Int{}
	for i := 0; i < len(integers); i += 2 {
		if integers[i].Sign() == 0 {
			m.readEdicts(integers[i+1:], outputs)
			break
		}
		if i+1 == len(integers) {
			m.cenotaph = true
			break
		}
		tag := integers[i].String()
		fields[tag] = append(fields[tag], integers[i+1])
	}
	take := func(tag string, count int, valid func([]*big.Int) bool) []*big.Int {
		values := fields[tag]
		if len(values) < count || !valid(values[:count]) {
			return nil
		}
		if fields[tag] = values[count:]; len(fields[tag]) == 0 {
			delete(fields, tag)
		}
		return values[:count]
	}
	one := func(tag string, below *big.Int) *big.Int {
		if v := take(tag, 1, func(v []*big.Int) bool { return v[0].Cmp(below) < 0 }); v != nil {
			return v[0]
		}
		return nil
	}
	flags := big.NewInt(0)
	if f := one("2", bits128); f != nil {
		flags.Set(f)
	}
	flag := func(i int) bool {
		set := flags.Bit(i) == 1
		flags.SetBit(flags, i, 0)
		return set
	}
	zero := func(x *big.Int) *big.Int {
		if x == nil {
			return new(big.Int)
		}
		return x
	}
	if flag(0) {
		e := &oracleEntry{mints: new(big.Int), burned: new(big.Int), symbol: "none"}
		e.divisibility = zero(one("1", big.NewInt(39))).String()
		e.premine = zero(one("6", bits128))
		e.name = one("4", bits128)
		e.spacers = zero(one("3", big.NewInt(1<<27))).String()
		scalar := func(v []*big.Int) bool {
			return v[0].Cmp(big.NewInt(0x110000)) < 0 && (v[0].Int64() < 0xd800 || v[0].Int64() > 0xdfff)
		}
		if v := take("5", 1, scalar); v != nil {
			e.symbol = v[0].String()
		}
		if e.terms = flag(1); e.terms {
			e.cap = one("8", bits128)
			e.heightStart, e.heightEnd = one("12", bits64), one("14", bits64)
			e.amount = one("10", bits128)
			e.offStart, e.offEnd = one("16", bits64), one("18", bits64)
		}
		e.turbo = flag(2)
		m.etching = e
		supply := new(big.Int).Mul(zero(e.cap), zero(e.amount))
		if supply.Add(supply, e.premine).Cmp(bits128) >= 0 {
			m.cenotaph = true
		}
	}
	valid := func(v []*big.Int) bool {
		return v[0].Cmp(bits64) < 0 && v[1].Cmp(bits32) < 0 && (v[0].Sign() > 0 || v[1].Sign() == 0)
	}
	if v := take("20", 2, valid); v != nil {
		m.mint = v[0].String() + ":" + v[1].String()
	}
	m.pointer = one("22", big.NewInt(min(outputs, 1<<32)))
	m.cenotaph = m.cenotaph || flags.Sign() != 0
	for tag := range fields {
		if strings.ContainsAny(tag[len(tag)-1:], "02468") {
			m.cenotaph = true
		}
	}
	return m
}

func (m *oracleMessage) readEdicts(integers []*big.Int, outputs int64) {
	block, tx := new(big.Int), new(big.Int)
	for ; len(integers) > 0; integers = integers[4:] {
		if len(integers) < 4 {
			m.cenotaph = true
			return
		}
		if integers[0].Sign() == 0 {
			tx = new(big.Int).Add(tx, integers[1])
		} else {
			tx = integers[1]
		}
		block = new(big.Int).Add(block, integers[0])
		if block.Cmp(bits64) >= 0 || tx.Cmp(bits32) >= 0 || block.Sign() == 0 && tx.Sign() > 0 ||
			integers[3].Cmp(bits32) >= 0 || integers[3].Cmp(big.NewInt(outputs)) > 0 {
			m.cenotaph = true
			return
		}
		m.edicts = append(m.edicts, oracleEdict{block.String() + ":" + tx.String(), integers[2], integers[3]})
	}
}

func oracleReturn(script []byte) bool { return len(script) > 0 && script[0] == 0x6a }

// oracleMinimum is the lowest name of a height.
func (o *oracle) minimum(height uint64) *big.Int {
	steps := func(n int) *big.Int { // the first name of n+1 letters
		x := new(big.Int)
		for range n {
			x.Mul(x.Add(x, big.NewInt(1)), big.NewInt(26))
		}
		return x
	}
	offset := height + 1
	if offset < o.first {
		return steps(12)
	}
	if offset >= o.first+210_000 {
		return new(big.Int)
	}
	progress := offset - o.first
	length := 12 - int(progress/17_500)
	distance := new(big.Int).Sub(steps(length), steps(length-1))
	distance.Mul(distance, new(big.Int).SetUint64(progress%17_500)).Div(distance, big.NewInt(17_500))
	return distance.Sub(steps(length), distance)
}

// add applies a transaction. The id of its first block is 0:0.
func (o *oracle) add(height uint64, index int, hash model.Hash, tx *spec) {
	balances := map[string]*big.Int{}
	grow := func(to map[string]*big.Int, id string, amount *big.Int) {
		if to[id] == nil {
			to[id] = new(big.Int)
		}
		to[id].Add(to[id], amount)
	}
	spent := make([]*oracleOutput, len(tx.in))
	for i, in := range tx.in {
		spent[i] = o.outputs[in.outpoint]
		for id, amount := range spent[i].runes {
			grow(balances, id, amount)
		}
		delete(o.outputs, in.outpoint)
	}
	made := make([]*oracleOutput, len(tx.out))
	for i, script := range tx.out {
		made[i] = &oracleOutput{
			height: height, taproot: len(script) == 34 && script[0] == 0x51 && script[1] == 32, runes: map[string]*big.Int{},
		}
		o.outputs[outpoint{hash, uint32(i)}] = made[i]
	}
	if height < o.first {
		return
	}
	give := func(id string, amount *big.Int, to int) {
		if amount.Sign() > 0 {
			balances[id] = new(big.Int).Sub(balances[id], amount)
			grow(made[to].runes, id, amount)
		}
	}
	least := func(a, b *big.Int) *big.Int {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	}
	m := o.decode(tx.out)
	if m != nil {
		if amount := o.mint(m.mint, height); amount != nil {
			grow(balances, m.mint, amount)
		}
		id, entry := o.etched(height, index, tx, spent, m)
		if entry != nil && !m.cenotaph {
			grow(balances, id, entry.premine)
		}
		edicts := m.edicts
		if m.cenotaph {
			edicts = nil
		}
		for _, e := range edicts {
			what := e.id
			if what == "0:0" {
				if entry == nil {
					continue
				}
				what = id
			}
			if balances[what] == nil {
				continue
			}
			to := int(e.output.Int64())
			if to < len(made) {
				amount := balances[what]
				if e.amount.Sign() > 0 {
					amount = least(e.amount, amount)
				}
				give(what, amount, to)
				continue
			}
			var destinations []int
			for i, script := range tx.out {
				if !oracleReturn(script) {
					destinations = append(destinations, i)
				}
			}
			if len(destinations) == 0 {
				continue
			}
			each, more := new(big.Int).DivMod(balances[what], big.NewInt(int64(len(destinations))), new(big.Int))
			for i, to := range destinations {
				switch {
				case e.amount.Sign() > 0:
					give(what, least(e.amount, balances[what]), to)
				case int64(i) < more.Int64():
					give(what, new(big.Int).Add(each, big.NewInt(1)), to)
				default:
					give(what, each, to)
				}
			}
		}
		if entry != nil {
			o.entries[id], o.names[entry.name.String()] = entry, id
		}
	}
	rest := slices.IndexFunc(tx.out, func(script []byte) bool { return !oracleReturn(script) })
	if m != nil && m.pointer != nil {
		rest = int(m.pointer.Int64())
	}
	for id, amount := range balances {
		if rest < 0 || m != nil && m.cenotaph {
			o.burn(id, amount)
		} else if amount.Sign() > 0 {
			grow(made[rest].runes, id, amount)
		}
	}
	for i, script := range tx.out {
		if oracleReturn(script) {
			for id, amount := range made[i].runes {
				o.burn(id, amount)
			}
			made[i].runes = nil
		}
	}
}

func (o *oracle) burn(id string, amount *big.Int) {
	e := o.entries[id]
	e.burned = new(big.Int).Add(e.burned, amount)
}

func (o *oracle) mint(id string, height uint64) *big.Int {
	e := o.entries[id]
	if e == nil || !e.terms {
		return nil
	}
	now := new(big.Int).SetUint64(height)
	shifted := func(offset *big.Int) *big.Int {
		if offset == nil {
			return nil
		}
		sum := new(big.Int).Add(offset, new(big.Int).SetUint64(e.block))
		if sum.Cmp(bits64) >= 0 {
			sum.Sub(bits64, big.NewInt(1))
		}
		return sum
	}
	for _, start := range []*big.Int{e.heightStart, shifted(e.offStart)} {
		if start != nil && now.Cmp(start) < 0 {
			return nil
		}
	}
	for _, end := range []*big.Int{e.heightEnd, shifted(e.offEnd)} {
		if end != nil && now.Cmp(end) >= 0 {
			return nil
		}
	}
	if e.cap == nil || e.mints.Cmp(e.cap) >= 0 {
		return nil
	}
	e.mints.Add(e.mints, big.NewInt(1))
	if e.amount == nil {
		return new(big.Int)
	}
	return e.amount
}

func (o *oracle) etched(height uint64, index int, tx *spec, spent []*oracleOutput, m *oracleMessage) (string,
	*oracleEntry) {
	e := m.etching
	if e == nil || m.cenotaph && e.name == nil {
		return "", nil
	}
	id := fmt.Sprintf("%d:%d", height, index)
	reserved, _ := new(big.Int).SetString("6402364363415443603228541259936211926", 10)
	if e.name == nil {
		e.name = reserved.Add(reserved, new(big.Int).Lsh(new(big.Int).SetUint64(height), 32))
		e.name.Add(e.name, big.NewInt(int64(index)))
	} else if _,
		used := o.names[e.name.String()]; used || e.name.Cmp(reserved) >= 0 || e.name.Cmp(o.minimum(height)) < 0 ||
		!oracleCommits(height, e.name, tx, spent) {
		return "", nil
	}
	if m.cenotaph {
		e = &oracleEntry{
			name: e.name, premine: new(big.Int), mints: new(big.Int), burned: new(big.Int), spacers: "0", divisibility: "0",
			symbol: "none",
		}
	}
	e.number, e.block = len(o.entries), height
	return id, e
}

func oracleCommits(height uint64, name *big.Int, tx *spec, spent []*oracleOutput) bool {
	commitment := name.Bytes()
	slices.Reverse(commitment)
	for i, in := range tx.in {
		items := in.witness
		if len(items) >= 2 && len(items[len(items)-1]) > 0 && items[len(items)-1][0] == 0x50 {
			items = items[:len(items)-1]
		}
		if len(items) < 2 || !spent[i].taproot || height-spent[i].height+1 < 6 {
			continue
		}
		pushes, _, _ := oraclePushes(items[len(items)-2])
		for _, push := range pushes {
			if push != nil && bytes.Equal(push, commitment) {
				return true
			}
		}
	}
	return false
}

// holdings returns the runes of an output as text, in the order of ids.
func (o *oracle) holdings(at outpoint) string {
	var all [][2]uint64
	for id := range o.outputs[at].runes {
		var block, tx uint64
		_, _ = fmt.Sscanf(id, "%d:%d", &block, &tx)
		all = append(all, [2]uint64{block, tx})
	}
	sort.Slice(all, func(i, j int) bool { return slices.Compare(all[i][:], all[j][:]) < 0 })
	var texts []string
	for _, x := range all {
		id := fmt.Sprintf("%d:%d", x[0], x[1])
		texts = append(texts, fmt.Sprintf("%s=%v", id, o.outputs[at].runes[id]))
	}
	return strings.Join(texts, " ")
}

// text returns an entry with its state.
func (e *oracleEntry) text() string {
	show := func(x *big.Int) string {
		if x == nil {
			return "-"
		}
		return x.String()
	}
	return fmt.Sprint(e.number, e.name, e.spacers, e.symbol, e.divisibility, e.premine, e.terms, e.turbo,
		show(e.amount), show(e.cap),
		show(e.heightStart), show(e.heightEnd), show(e.offStart), show(e.offEnd), " ", e.mints, " ", e.burned)
}
