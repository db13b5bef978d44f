package humanize

import (
	"testing"
	"time"
)

func TestUnitAmount(t *testing.T) {
	btc := Unit{Symbol: "BTC", Decimals: 8}
	for _, c := range []struct {
		unit         Unit
		amount, want string
	}{
		{btc, "5000000000", "50.00000000 BTC"},
		{btc, "70660000000000", "706,600.00000000 BTC"},
		{btc, "1", "0.00000001 BTC"},
		{btc, "0", "0.00000000 BTC"},
		{btc, "-123", "-0.00000123 BTC"},
		{Unit{Symbol: "ADA", Decimals: 6}, "31112484646000000", "31,112,484,646.000000 ADA"},
		{Unit{}, "1234567", "1,234,567"},
		{Unit{}, "-1234567", "-1,234,567"},
		{btc, "", ""},
		{btc, "-", "-"},
		{btc, "many", "many"},
	} {
		if got := c.unit.Amount(c.amount); got != c.want {
			t.Errorf("%s of %+v is %q, expected %q", c.amount, c.unit, got, c.want)
		}
	}
}

func TestNumbersHaveThousandsSeparators(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := Count(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 blocks", 1: "1 block", 1000: "1,000 blocks"} {
		if got := Plural(n, "block"); got != want {
			t.Errorf("%d blocks are written %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536 << 10: "1.5 MiB", 1 << 40: "1.0 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
}

func TestTimesAreSaidAsPeopleSayThem(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for before, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago", 47 * time.Hour: "1 day ago",
		400 * 24 * time.Hour: "1 year ago", 17 * 365 * 24 * time.Hour: "17 years ago", -time.Hour: "just now", -5 * time.Hour: "in 5 hours",
	} {
		if got := Ago(now.Add(-before).Unix(), now); got != want {
			t.Errorf("%v before now is %q, want %q", before, got, want)
		}
	}
	if got := Clock(1231731025); got != "2009-01-12 03:30:25 UTC" {
		t.Errorf("clock says %s", got)
	}
	if got := Duration(20 * time.Second); got != "less than a minute" {
		t.Errorf("20 seconds are %s", got)
	}
}

func TestDecimalsHaveNoExponent(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", 4.6565423739069247e-10: "0.000000000466", 0.00024414: "0.000244", 16307.420938523983: "16307.420938523983",
		1.0e22: "10000000000000000000000", 0.9999: "1.000",
	} {
		if got := Decimal(f); got != want {
			t.Errorf("%g: %s, expected %s", f, got, want)
		}
	}
}
