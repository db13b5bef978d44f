package ergo

import (
	"context"
	"strings"
	"testing"

	"birthmark/model"
)

// The accepted forms of blocks.
func TestBlocksAreReadInEveryFormat(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	raw := string(jsonOf(t, handmade(t, 4, aTx())))
	for name, form := range map[string]struct {
		text   string
		blocks int
	}{
		"one": {raw, 1}, "lines": {raw + "\n" + raw + "\n", 2}, "array": {"[" + raw + ",\n" + raw + "]", 2}, "gzip": {gzipped(t, raw+"\n"+raw), 2},
	} {
		n := 0
		for b, err := range c.Decode(context.Background(), strings.NewReader(form.text), []string{indexAddress}, 0) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if b.Height != 77 || len(b.Txs[0].Outputs[0].Keys) != 1 {
				t.Errorf("%s: %+v", name, b)
			}
			n++
		}
		if n != form.blocks {
			t.Errorf("%s: %d blocks, expected %d", name, n, form.blocks)
		}
	}
	for text, want := range map[string]string{
		"":                      "source_empty nothing to decode",
		" \n":                   "source_empty nothing to decode",
		"[]":                    "source_empty nothing to decode",
		raw + "\n{":             "bad_block line 2: ",
		raw + "\n{}":            "bad_block line 2: a block: missing header",
		"[" + raw + ",\n" + raw: "bad_block line 2: ",
		raw + "\n]":             "bad_block line 2: ",
		"\x1f\x8b\x08":          "bad_block gzip: ",
		gzipped(t, raw)[:200]:   "bad_block ",
	} {
		var last error
		for _, err := range c.Decode(context.Background(), strings.NewReader(text), nil, 0) {
			last = err
		}
		kind, code := model.KindOf(last)
		if kind != model.BadSource || !strings.HasPrefix(code+" "+last.Error(), want) {
			t.Errorf("%.20q: %s %v, expected %s", text, code, last, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range c.Decode(ctx, strings.NewReader(raw), nil, 0) {
		if err != context.Canceled {
			t.Errorf("canceled: %v", err)
		}
	}
	for _, err := range c.Decode(context.Background(), strings.NewReader(raw), []string{"x"}, 0) {
		if kind, _ := model.KindOf(err); kind != model.Usage {
			t.Errorf("an unknown index: %v", err)
		}
	}
}
