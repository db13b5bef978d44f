package cardano

import (
	"encoding/hex"
	"strconv"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
)

// Kinds of native scripts (rule native_script of the ledger's CDDL).
const (
	scriptSignature = iota
	scriptAll
	scriptAny
	scriptAtLeast
	scriptFrom
	scriptBefore
	scriptGuard // since Dijkstra
)

// PrintScript implements [model.ScriptPrinter]: it writes native scripts, and those of Plutus.
func (c *chain) PrintScript(language string, code []byte, most int) (text string, whole bool) {
	if language != ledger.ScriptLanguages[0] {
		return printPlutus(code, most)
	}
	w := cbor.Walker{Data: code}
	p := scriptPrinter{net: c.net.Network, most: most}
	p.script(&w, 0)
	if w.Err != nil || w.Offset < len(code) {
		return "", false
	}
	return strings.TrimSuffix(p.String(), "\n"), !p.cut
}

// scriptPrinter writes a native script, a condition per line.
type scriptPrinter struct {
	strings.Builder
	net  address.Network
	most int  // bytes
	cut  bool // there are more
}

func (p *scriptPrinter) line(depth int, text string) {
	if p.cut = p.cut || p.Len()+2*depth+len(text) >= p.most; !p.cut {
		p.WriteString(strings.Repeat("  ", depth) + text + "\n")
	}
}

// script writes a script below depth others.
func (p *scriptPrinter) script(w *cbor.Walker, depth int) {
	if tooDeep(w, depth) {
		return
	}
	list := func(heading string, f *cbor.Fields) {
		if p.line(depth, heading); p.cut {
			f.Skip("scripts")
			return
		}
		in := cbor.Walker{Data: f.Item("scripts")}
		for n := in.Array("scripts"); in.More(&n); {
			p.script(&in, depth+1)
		}
		if in.Err != nil {
			w.Fail("invalid list of scripts")
		}
	}
	f := w.Fields("script")
	switch kind := f.Uint("kind of the script"); kind {
	case scriptSignature:
		p.line(depth, "signature of key "+hex.EncodeToString(f.Bytes("key hash")))
	case scriptAll:
		list("all of", &f)
	case scriptAny:
		list("any of", &f)
	case scriptAtLeast:
		list("at least "+f.Integer("number").String()+" of", &f)
	case scriptFrom:
		p.line(depth, "from slot "+strconv.FormatUint(f.Uint("slot"), 10)+" on")
	case scriptBefore:
		p.line(depth, "before slot "+strconv.FormatUint(f.Uint("slot"), 10))
	case scriptGuard:
		cred := f.Fields("credential")
		guard := append([]byte{byte(cred.Uint("kind"))}, cred.Bytes("hash")...)
		cred.End()
		p.line(depth, "guard "+address.FormatPaymentCredential(p.net, guard))
	default:
		w.Fail("unknown kind %d of a script", kind)
	}
	f.End()
}
