package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
)

func TestWhatRedeemKeysWereGivenIsSplitOff(t *testing.T) {
	a, b := bytes.Repeat([]byte{0xfb}, 32), bytes.Repeat([]byte{0x01}, 32)
	text := base64.URLEncoding.EncodeToString
	rest, given, err := split([]byte(`{"b": {"d": 1, "c": "<é>"}, "avvmDistr": {"` + text(b) + `": "300", "` + text(a) + `": "1"}, "a": []}`))
	want := append(append(bytes.Clone(a), 1), append(bytes.Clone(b), 0xac, 0x02)...)
	if err != nil || string(rest) != `{"a":[],"avvmDistr":{},"b":{"c":"<é>","d":1}}` || !bytes.Equal(given, want) {
		t.Errorf("%s, %x, %v", rest, given, err)
	}
	for _, bad := range []string{"[]", `{"avvmDistr": {"AAAA": "1"}}`, `{"avvmDistr": {"!": "1"}}`, `{"avvmDistr": {"` + text(a) + `": "-1"}}`} {
		if _, _, err := split([]byte(bad)); err == nil || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWhatIsBuiltInWasMadeLikeThis(t *testing.T) {
	for _, network := range []string{"mainnet", "preprod", "preview"} {
		made := filepath.Join(t.TempDir(), network)
		if err := compact(testblocks.Path(t, "cardano", "genesis", network, "byron-genesis.json"), made); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{".json", ".avvm"} {
			want, wantErr := os.ReadFile(filepath.Join("..", network+suffix))
			got, gotErr := os.ReadFile(made + suffix)
			if !bytes.Equal(got, want) || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("%s%s: %d bytes, %v; built in are %d, %v", network, suffix, len(got), gotErr, len(want), wantErr)
			}
		}
	}
}
