//go:build interop

package runes_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/testblocks"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// library sends questions to the library @magiceden-oss/runestone-lib, one at a time.
type library struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

func startLibrary(t *testing.T) *library {
	t.Helper()
	cmd := exec.Command("node", "oracle.js")
	cmd.Dir = filepath.Join("..", "..", "..", "tools", "interop", "runes")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: make test-interop installs the library", err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	out := bufio.NewScanner(stdout)
	out.Buffer(nil, 64<<20)
	return &library{t, stdin, out}
}

// ask sends a question and reads the answer into to. failed is the error of the library.
func (l *library) ask(question, to any) (failed string) {
	l.t.Helper()
	text, err := json.Marshal(question)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(l.in, "%s\n", text); err != nil || !l.out.Scan() {
		l.t.Fatalf("the library ended: %v, %v", err, l.out.Err())
	}
	var answer struct{ Error string }
	if err := json.Unmarshal(l.out.Bytes(), &answer); err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal(l.out.Bytes(), to); err != nil {
		l.t.Fatalf("%v: %s", err, l.out.Bytes())
	}
	return answer.Error
}

// object is a JSON object.
type object = map[string]any

// bigint is a number of any size in a question, and text in an answer.
func bigint(question bool, x any) string {
	if question {
		return fmt.Sprint(x) + "n"
	}
	return fmt.Sprint(x)
}

// libraryForm is a message in the form of the library.
func libraryForm(s *runes.Runestone, question bool) object {
	big := func(x any) string { return bigint(question, x) }
	o := object{}
	id := func(id runes.ID) object { return object{"block": big(id.Block), "tx": id.Tx} }
	if s.Mint.OK {
		o["mint"] = id(s.Mint.Value)
	}
	if s.Flaw != runes.NoFlaw {
		o["flaw"] = strings.ReplaceAll(s.Flaw.String(), "-", "_")
		if s.Etching != nil {
			o["etching"] = s.Etching.Name.Value.String()
		}
		return o
	}
	if s.Pointer.OK {
		o["pointer"] = s.Pointer.Value
	}
	for _, e := range s.Edicts {
		list, _ := o["edicts"].([]object)
		o["edicts"] = append(list, object{"id": id(e.ID), "amount": big(e.Amount), "output": e.Output})
	}
	if s.Etching == nil {
		return o
	}
	e := object{}
	o["etching"] = e
	if s.Etching.Name.OK {
		e["runeName"] = s.Etching.Name.Value.Spaced(s.Etching.Spacers)
	}
	if s.Etching.Divisibility > 0 {
		e["divisibility"] = s.Etching.Divisibility
	}
	if !s.Etching.Premine.IsZero() {
		e["premine"] = big(s.Etching.Premine)
	}
	if s.Etching.Symbol.OK {
		e["symbol"] = string(s.Etching.Symbol.Value)
	}
	if question && s.Etching.Turbo {
		e["turbo"] = true
	}
	if !s.Etching.Terms.OK {
		return o
	}
	t := s.Etching.Terms.Value
	terms := object{}
	e["terms"] = terms
	if t.Amount.OK {
		terms["amount"] = big(t.Amount.Value)
	}
	if t.Cap.OK {
		terms["cap"] = big(t.Cap.Value)
	}
	for name, r := range map[string]runes.Range{"height": t.Height, "offset": t.Offset} {
		bounds := object{}
		if r.Start.OK {
			bounds["start"] = big(r.Start.Value)
		}
		if r.End.OK {
			bounds["end"] = big(r.End.Value)
		}
		if len(bounds) > 0 {
			terms[name] = bounds
		}
	}
	return o
}

// normal removes the fields that the library does not report reliably: turbo is always true, and zeros can be present or
// not. It has all flaws; ours has the first. A symbol that is not a Unicode scalar value is absent.
func normal(o object, ours object) object {
	if flaws, ok := o["flaws"].([]any); ok {
		delete(o, "flaws")
		o["flaw"] = flaws[0]
	}
	e, ok := o["etching"].(object)
	if !ok {
		return o
	}
	delete(e, "turbo")
	if e["divisibility"] == 0.0 {
		delete(e, "divisibility")
	}
	if e["premine"] == "0" {
		delete(e, "premine")
	}
	if mine, ok := ours["etching"].(object); ok && mine["symbol"] == nil && e["symbol"] == "\ufffd" {
		delete(e, "symbol")
	}
	return o
}

func throughJSON(t *testing.T, x object) (o object) {
	t.Helper()
	text, err := json.Marshal(x)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Messages of all kinds are read as the library reads them.
func TestInteropDecode(t *testing.T) {
	l := startLibrary(t)
	rng := testseed.Rand(t)
	g := &generator{Rand: rng, w: newWorld(t, runes.RulesOf(0, false), 100)}
	seen := tallies{}
	for range 10_000 {
		outputs := rng.IntN(4)
		scripts := make([][]byte, outputs, outputs+1)
		for i := range scripts {
			scripts[i] = g.plainScript()
		}
		script, _ := g.message(outputs + 1)
		if rng.IntN(4) == 0 {
			script = randomStone(rng, outputs+1).Script()
		}
		scripts = append(scripts, script)
		seen.add(&spec{out: scripts})
		texts := make([]string, len(scripts))
		for i, s := range scripts {
			texts[i] = hex.EncodeToString(s)
		}
		var answer struct{ Message object }
		if failed := l.ask(object{"decode": texts}, &answer); failed != "" {
			t.Fatalf("%x: %s", scripts, failed)
		}
		got := runes.Decode(scripts)
		if got == nil || answer.Message == nil {
			if got != nil || answer.Message != nil {
				t.Fatalf("%x: %+v, expected %v", scripts, got, answer.Message)
			}
			continue
		}
		ours := throughJSON(t, libraryForm(got, false))
		if want := normal(answer.Message, ours); !reflect.DeepEqual(ours, want) {
			t.Fatalf("%x:\n%v, expected\n%v", scripts, ours, want)
		}
	}
	if seen.valid < 4_000 || seen.cenotaphs < 1_000 {
		t.Errorf("%+v", seen)
	}
}

// The messages of a real block with runes are read as the library reads them.
func TestInteropRealBlock(t *testing.T) {
	l := startLibrary(t)
	raw, err := os.ReadFile(testblocks.Path(t, "bitcoin", "converted", "redbit_huge_*.raw"))
	if err != nil {
		t.Fatal(err)
	}
	d := block.NewDecoder(&block.Bitcoin, noIndexes{})
	d.KeepRaw = true
	b, err := d.Block(raw, 908_244)
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for i := range b.Txs {
		parts, err := block.Bitcoin.Parts(b.Txs[i].Raw)
		if err != nil {
			t.Fatal(err)
		}
		got := runes.Decode(parts.Outputs)
		if got == nil {
			continue
		}
		messages++
		texts := []string{}
		for _, script := range parts.Outputs {
			texts = append(texts, hex.EncodeToString(script))
		}
		var answer struct{ Message object }
		if failed := l.ask(object{"decode": texts}, &answer); failed != "" {
			t.Fatal(failed)
		}
		ours := throughJSON(t, libraryForm(got, false))
		if want := normal(answer.Message, ours); !reflect.DeepEqual(ours, want) {
			t.Errorf("transaction %d: %v, expected %v", i, ours, want)
		}
	}
	if messages != 65 {
		t.Errorf("%d messages", messages)
	}
}

// Messages are written as the library writes them.
func TestInteropEncode(t *testing.T) {
	l := startLibrary(t)
	rng := testseed.Rand(t)
	for range 5_000 {
		s := randomStone(rng, 4)
		if s.Etching != nil && !s.Etching.Name.OK {
			s.Etching.Spacers = 0 // the library has them with a name only
		}
		if s.Etching != nil {
			// Spacers after the last letter do not occur in a name.
			_, s.Etching.Spacers, _ = runes.ParseSpaced(s.Etching.Name.Value.Spaced(s.Etching.Spacers))
		}
		var answer struct{ Script string }
		if failed := l.ask(object{"encode": libraryForm(s, true)}, &answer); failed != "" {
			t.Fatalf("%+v: %s", s, failed)
		}
		if got := hex.EncodeToString(s.Script()); got != answer.Script {
			t.Fatalf("%+v: %s, expected %s", s, got, answer.Script)
		}
	}
}

// libraryIndex is the answer to a block.
type libraryIndex struct {
	Runes map[string]struct {
		Valid                     bool
		RuneName, Premine, Burned string
		Divisibility              uint8
		Mints                     uint64
	}
	Held map[string][][2]string
}

// Over random chains, the rules and the indexer of the library agree. The library has an end of mints that ord does not
// have if a rune has two: no rune of these chains has.
func TestInteropIndexer(t *testing.T) {
	rng := testseed.Rand(t)
	length := lengthOf(t, chainLength{txs: 5_000, most: 30, every: 10})
	for _, c := range []struct {
		network       string
		first, height model.HeightPk
	}{{"REGTEST", 0, 0}, {"MAINNET", 840_000, 857_450}} {
		l := startLibrary(t)
		w := newWorld(t, runes.RulesOf(c.first, false), c.height)
		g := &generator{Rand: rng, w: w, oneEnd: true}
		blocks := 0
		for count := 0; count < length.txs || blocks < length.blocks; {
			height := w.height
			txs := g.block(t, nil, length.most)
			count += len(txs)
			blocks++
			compared := blocks%length.every == 0
			var index libraryIndex
			question := object{"height": height, "network": c.network, "txs": blockOf(t, height, txs), "answer": compared}
			if failed := l.ask(question, &index); failed != "" {
				t.Fatalf("block %d: %s", height, failed)
			}
			if compared {
				compareIndex(t, w, &index)
			}
		}
		t.Logf("%s: %d blocks, %d runes, %d outputs with runes", c.network, blocks, len(w.tokens), len(w.all()))
		if len(w.tokens) < 50 || len(w.all()) < 20 {
			t.Errorf("%s: the chain has too little", c.network)
		}
	}
}

// blockOf returns the transactions of a block in the form of Core's getblock.
func blockOf(t *testing.T, height model.HeightPk, txs []*spec) (list []object) {
	t.Helper()
	for _, tx := range txs {
		var ins, outs []object
		for _, in := range tx.in {
			witness := []string{}
			for _, item := range in.witness {
				witness = append(witness, hex.EncodeToString(item))
			}
			ins = append(ins, object{"txid": block.FormatHash(in.tx), "vout": in.index, "txinwitness": witness})
		}
		if len(ins) == 0 {
			ins = []object{{"coinbase": ""}}
		}
		for _, script := range tx.out {
			kind, _ := block.Solve(script)
			outs = append(outs, object{"scriptPubKey": object{"hex": hex.EncodeToString(script), "type": block.KindNames[kind]}})
		}
		list = append(list, object{"txid": block.FormatHash(idOf(t, tx.serialize(height))), "vin": ins, "vout": outs})
	}
	return list
}

func compareIndex(t *testing.T, w *world, index *libraryIndex) {
	t.Helper()
	if len(index.Runes) != len(w.tokens) {
		t.Fatalf("height %d: %d runes, expected %d", w.height, len(w.tokens), len(index.Runes))
	}
	for text, want := range index.Runes {
		id, _ := runes.ParseID(text)
		e, mints, burned, ok := w.entry(id)
		premine := want.Premine
		if premine == "" {
			premine = "0"
		}
		if !ok || e.Name.Spaced(e.Spacers) != want.RuneName || e.Cenotaph == want.Valid || e.Premine.String() != premine ||
			e.Divisibility != want.Divisibility || mints != want.Mints || burned.String() != want.Burned {
			t.Fatalf("height %d, rune %s: %+v, %d mints, %v burned, expected %+v", w.height, text, e, mints, burned, want)
		}
	}
	held := map[string]string{}
	for at, list := range index.Held {
		slices.SortFunc(list, func(a, b [2]string) int {
			x, _ := runes.ParseID(a[0])
			y, _ := runes.ParseID(b[0])
			return x.Compare(y)
		})
		var texts []string
		for _, x := range list {
			texts = append(texts, x[0]+"="+x[1])
		}
		held[at] = strings.Join(texts, " ")
	}
	ours := map[string]string{}
	for at, text := range w.all() {
		ours[block.FormatHash(at.tx)+":"+strconv.Itoa(int(at.index))] = text
	}
	if !maps.Equal(ours, held) {
		var b bytes.Buffer
		for at := range ours {
			if ours[at] != held[at] {
				fmt.Fprintf(&b, "%s: %s, expected %s\n", at, ours[at], held[at])
			}
		}
		for at := range held {
			if ours[at] == "" {
				fmt.Fprintf(&b, "%s: nothing, expected %s\n", at, held[at])
			}
		}
		t.Fatalf("height %d:\n%s", w.height, b.String())
	}
}
