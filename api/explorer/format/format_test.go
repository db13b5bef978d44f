package format

import (
	"math/big"
	"testing"
	"time"

	"birthmark/internal/humanize"
)

func TestDurationsInSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 7400 * time.Millisecond: "7 s", time.Minute: "1 min 0 s", 570 * time.Second: "9 min 30 s", 2*time.Hour + 5*time.Minute: "2 h 5 min",
	} {
		if got := Seconds(d); got != want {
			t.Errorf("%v is %s, expected %s", d, got, want)
		}
	}
}

func TestSharesOfASupply(t *testing.T) {
	for _, c := range []struct {
		part, total int64
		want        string
	}{{1, 3, "33.33%"}, {3, 3, "100.00%"}, {1, 1 << 40, "<0.01%"}, {0, 7, "0.00%"}, {0, 0, ""}, {5, -1, ""}} {
		if got := Share(big.NewInt(c.part), big.NewInt(c.total)); got != c.want {
			t.Errorf("%d of %d is %q, expected %q", c.part, c.total, got, c.want)
		}
	}
}

func TestFeeRatesAreReadable(t *testing.T) {
	for _, c := range []struct {
		fee  string
		size int
		want string
	}{
		{"10000", 225, "44.44"}, {"141", 141, "1.00"}, {"1", 250, "0.004"}, {"127", 141, "0.901"}, {"1", 100_000, "<0.001"},
		{"100000000", 100, "1000000.00"},
	} {
		if got := FeeRate(c.fee, c.size); got != c.want {
			t.Errorf("%s for %d bytes is a rate of %s, expected %s", c.fee, c.size, got, c.want)
		}
	}
}

func TestDifference(t *testing.T) {
	if more, less := Difference("shielded pools"); more != "from shielded pools" || less != "to shielded pools, or fee" {
		t.Errorf("%q, %q", more, less)
	}
}

func TestLongAmountsHaveAClass(t *testing.T) {
	for n, want := range map[string]string{
		"123822703355": "", "70660000000000": "", "3000000000000000000": " long",
		"170141183460469231731687303715884105727": " longest",
	} {
		if got := AmountOf(humanize.Unit{Symbol: "MELDt"}, n).Size(); got != want {
			t.Errorf("%s: %q, expected %q", n, got, want)
		}
	}
	if got := AmountOf(humanize.Unit{Symbol: "BTC", Decimals: 8}, "123822703355").Size(); got != "" {
		t.Errorf("an amount of bitcoins: %q", got)
	}
}
