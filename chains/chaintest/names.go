package chaintest

import (
	"bytes"
	"strings"
	"testing"

	"birthmark/model"
)

// networks checks that each network opens under its name and that the first is the default.
func (f *Fixture) networks(t *testing.T) {
	for _, network := range append([]string{""}, f.Networks...) {
		c := f.chain(t, network)
		if want := max(network, f.Networks[0]); network != "" && c.Network() != network || network == "" && c.Network() != f.Networks[0] {
			t.Errorf("network %q opens %s, expected %s", network, c.Network(), want)
		}
		defaults := 0
		for _, x := range c.Indexes() {
			if x.Default {
				defaults++
			}
			if x.Doc == "" || !x.Kind.Valid() || x.Custom {
				t.Errorf("index %s: doc %q, kind %v, custom %v", x.Name, x.Doc, x.Kind, x.Custom)
			}
		}
		if defaults == 0 {
			t.Error("no index is a default")
		}
	}
	_, err := f.New("nowhere")
	refused(t, "an unknown network", err, model.Usage, "unknown_network")
	if err != nil && !strings.Contains(err.Error(), f.Networks[len(f.Networks)-1]) {
		t.Errorf("%v does not list the networks", err)
	}
}

// hashes checks that ParseHash reads what FormatHash writes, and rejects other texts.
func (f *Fixture) hashes(t *testing.T) {
	c := f.chain(t, "")
	for seed := range byte(50) {
		h := model.Hash{seed, 1, 2, 31: ^seed}
		text := c.FormatHash(h)
		for _, written := range []string{text, strings.ToUpper(text)} {
			if got, err := c.ParseHash(written); err != nil || got != h {
				t.Errorf("%s is read as %x, %v", written, got, err)
			}
		}
		for _, bad := range []string{"", text[1:], text + "0", text + "00", text[:63] + "g", "0x" + text[2:], strings.Repeat("é", 32)} {
			_, err := c.ParseHash(bad)
			refused(t, bad, err, model.Usage, "bad_hash")
		}
	}
	for _, bad := range []string{"", "nonsense", "\x00", strings.Repeat("a", 1000)} {
		if id, err := c.ParseAsset(bad); err == nil {
			t.Errorf("%q is read as the asset %x", bad, id)
		}
	}
}

// values checks that Parse reads what Format writes, for values and assets of real blocks, and rejects other texts.
func (f *Fixture) values(t *testing.T) {
	found := map[string]int{}
	for _, in := range f.Inputs {
		c := f.chain(t, in.Network)
		all := c.Indexes()
		for _, b := range decode(t, c, in, names(c)) {
			outputs(b, func(tx *model.Tx, i int, o *model.Output) {
				for n, k := range o.Keys {
					x := &all[k.Index]
					text := x.Format(k.Value)
					if again, err := x.Parse(text); err != nil || !bytes.Equal(again, k.Value) {
						t.Fatalf("%s: %s %x is written %s, which is read as %x, %v", in.Name, x.Name, k.Value, text, again, err)
					}
					if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize || !x.Kind.HasOrdinal() && n > 0 && o.Keys[n-1].Index == k.Index {
						t.Fatalf("%s: output %s:%d has the keys %v", in.Name, c.FormatHash(tx.Hash), i, o.Keys)
					}
					found[x.Name]++
				}
				for _, a := range o.Assets {
					text := c.FormatAsset(a.ID)
					if again, err := c.ParseAsset(text); err != nil || !bytes.Equal(again, a.ID) {
						t.Fatalf("%s: asset %x is written %s, which is read as %x, %v", in.Name, a.ID, text, again, err)
					}
				}
			})
		}
	}
	for _, x := range f.chain(t, "").Indexes() {
		if found[x.Name] == 0 {
			t.Errorf("no output has a value of %s", x.Name)
		}
		for _, bad := range []string{"", "nonsense\x00", strings.Repeat("z", 100_000)} {
			_, err := x.Parse(bad)
			refused(t, x.Name+" "+bad, err, model.Usage, "bad_value", "bad_address")
		}
	}
}
