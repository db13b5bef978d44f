package progress

import (
	"strings"
	"testing"
	"time"
)

// A transfer of bytes is shown in megabytes, with its rate and the time left.
func TestTransfersAreShownInMegabytes(t *testing.T) {
	at := time.Unix(0, 0)
	p := NewTransfer(func() time.Time { return at })
	if got := p.Reading().line("restore", 100); got != "restore  reading the snapshot" {
		t.Error(got)
	}
	at = at.Add(10 * time.Second)
	p.Advance(500_000_000, 2_000_000_000)
	const want = "25.0%  500/2,000  50 MB/s  30s left"
	if got := p.Reading().line("restore", 100); !strings.HasSuffix(got, want) {
		t.Errorf("%s, expected %s", got, want)
	}
}
