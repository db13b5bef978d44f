package cardano

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/cardano/ledger"
)

func TestParseHeader(t *testing.T) {
	for _, c := range []struct {
		era  int
		want string
	}{
		{ledger.EraShelley, `{"era":"shelley","slot":7000,"epoch":0,"block_number":100,"issuer_vkey":"` + strings.Repeat("02", 32) + `","vrf_vkey":"` + strings.Repeat("03", 32) + `","protocol_version":"6.0","body_size":999}`},
		{ledger.EraConway, `{"era":"conway","slot":7000,"epoch":0,"block_number":100,"issuer_vkey":"` + strings.Repeat("02", 32) + `","vrf_vkey":"` + strings.Repeat("03", 32) + `","protocol_version":"9.1","body_size":999}`},
	} {
		segments := list{list{}, list{}, dict{}, list{}}
		if c.era < ledger.EraAlonzo {
			segments = segments[:3]
		}
		b := decoded(t, handmade(t, c.era, segments...))
		h, err := ledger.ParseHeader(networkNamed(t, "mainnet"), b.Header)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, h); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
		if hash, err := ledger.HashHeader(b.Header); err != nil || hash != b.Hash {
			t.Errorf("the header hashes to %s, %v; expected %s", hash, err, b.Hash)
		}
	}
}

// Incomplete headers are rejected, and so are headers whose tag is that of another era.
func TestInvalidHeadersAreRejected(t *testing.T) {
	good := decoded(t, handmade(t, ledger.EraConway, list{}, list{}, dict{}, list{})).Header
	for n := range good {
		if h, err := ledger.ParseHeader(networkNamed(t, "mainnet"), good[:n]); err == nil {
			t.Errorf("the first %d bytes are read as %+v", n, h)
		}
	}
	if _, err := ledger.ParseHeader(networkNamed(t, "mainnet"), append(bytes.Clone(good), 0)); err == nil || !strings.Contains(err.Error(), "1 bytes follow the header") {
		t.Errorf("an extra byte: %v", err)
	}
	for era := range byte(12) {
		if era == ledger.EraBabbage || era == ledger.EraConway || era == ledger.EraDijkstra {
			continue // headers of these eras have the same form
		}
		if _, err := ledger.ParseHeader(networkNamed(t, "mainnet"), append([]byte{era}, good[1:]...)); err == nil {
			t.Errorf("a header of Conway with the tag %d is accepted", era)
		}
	}
	if _, err := ledger.HashHeader(nil); err == nil {
		t.Error("an empty header has a hash")
	}
}

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
