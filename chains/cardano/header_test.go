package cardano

import (
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/cardano/ledger"
)

// Every real header is parsed again from the fields in the model.
func TestRealHeadersRoundTrip(t *testing.T) {
	for _, s := range singles(t) {
		d := decodedAs(t, s.network())
		b, boundary, err := d.Block(realFile(t, filepath.FromSlash(s.File)))
		if err != nil {
			t.Fatalf("%s: %v", s.File, err)
		}
		h, err := ledger.ParseHeader(d.Network, b.Header)
		if err != nil {
			t.Fatalf("%s: %v", s.File, err)
		}
		hash, err := ledger.HashHeader(b.Header)
		era := strings.ToLower(strings.TrimSuffix(s.Era, "EBB"))
		if err != nil || hash.String() != s.Hash || h.Era != era || h.Boundary != boundary || h.Slot != s.Slot || h.BlockNumber != uint64(s.No) ||
			*h.Epoch != d.Network.Epoch(s.Slot) || (h.IssuerVkey == "") != boundary || (h.VrfVkey == "") != (era == "byron") || (h.BodySize == 0) != (era == "byron") {
			t.Errorf("%s: %+v, hash %s, %v; expected %+v", s.File, *h, hash, err, s)
		}
	}
}
