package address

import (
	"bytes"
	"strings"
	"testing"

	"birthmark/model"
)

const (
	cip14Policy = "7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc373"
	cip14Other  = "1e349c9bdea19fd6c147626a5260bc44b71635f398b67c59881df209"
)

func TestFingerprintsMatchCIP14(t *testing.T) {
	for _, c := range []struct{ policy, name, want string }{
		{cip14Policy, "", "asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3"},
		{"7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc37e", "", "asset1nl0puwxmhas8fawxp8nx4e2q3wekg969n2auw3"},
		{cip14Other, "", "asset1uyuxku60yqe57nusqzjx38aan3f2wq6s93f6ea"},
		{cip14Policy, "504154415445", "asset13n25uv0yaf5kus35fm2k86cqy60z58d9xmde92"},
		{cip14Other, "504154415445", "asset1hv4p5tv2a837mzqrst04d0dcptdjmluqvdx9k3"},
		{cip14Other, cip14Policy, "asset1aqrdypg669jgazruv5ah07nuyqe0wxjhe2el6f"},
		{cip14Policy, cip14Other, "asset17jd78wukhtrnmjh3fngzasxm8rck0l2r4hhyyt"},
		{cip14Policy, strings.Repeat("0", 64), "asset1pkpwyknlvul7az0xx8czhl60pyel45rpje4z8w"},
	} {
		id, err := ParseAsset(c.policy + c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := Fingerprint.Format(Fingerprint.Of(id, nil)); got != c.want {
			t.Errorf("%s.%s has %s, expected %s", c.policy, c.name, got, c.want)
		}
		if hash, err := parseFingerprint(c.want); err != nil || !bytes.Equal(hash, blake2bOf(fingerprintSize, id)) {
			t.Errorf("%s is parsed as %x, %v", c.want, hash, err)
		}
		for _, text := range []string{FormatAsset(id), c.policy + "." + c.name, strings.ToUpper(c.policy + c.name)} {
			if got, err := ParseAsset(text); err != nil || !bytes.Equal(got, id) {
				t.Errorf("%s is parsed as %x, %v", text, got, err)
			}
		}
	}
}

func TestInvalidAssetErrors(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "0 digits"},
		{"ada", "not hex"},
		{cip14Policy[2:], "54 digits"},
		{cip14Policy + "0", "not hex"},
		{cip14Policy + strings.Repeat("00", 33), "the longest has 120"},
		{cip14Policy + "." + strings.Repeat("00", 33), "the longest has 120"},
		{cip14Policy[2:] + ".00ff", "54 characters before the dot"},
		{cip14Policy + ".PATATE", "not hex"},
		{cip14Policy + ".00.00", "not hex"},
		{"asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3", "fingerprint (CIP-14)"},
		{"asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc4", "invalid checksum"},
		{encodeBech32("asset", make([]byte, 19)), "its hash has 19 bytes"},
	} {
		_, err := ParseAsset(c.text)
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, expected %q", c.text, err, c.says)
		}
	}
}

func FuzzParseAssetID(f *testing.F) {
	f.Add(cip14Policy + ".504154415445")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseAsset(text)
		if err != nil {
			return
		}
		if again, err := ParseAsset(FormatAsset(id)); err != nil || !bytes.Equal(again, id) {
			t.Fatalf("%q is parsed as %x, then as %x, %v", text, id, again, err)
		}
	})
}
