package ledger_test

import (
	"bytes"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
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

// The fields that pages show, and the operational certificate, are those of the header; Byron has neither pool nor
// certificate.
func TestFieldsOfHeaders(t *testing.T) {
	shown := func(header []byte) string {
		h, err := ledger.ParseHeader(networkNamed(t, "mainnet"), header)
		if err != nil {
			t.Fatal(err)
		}
		return text(t, h.People())
	}
	for _, era := range []int{ledger.EraShelley, ledger.EraAlonzo, ledger.EraBabbage, ledger.EraConway} {
		segments := list{list{}, list{}, dict{}, list{}}
		if era < ledger.EraAlonzo {
			segments = segments[:3]
		}
		header := decoded(t, handmade(t, era, segments...)).Header
		hot, counter, err := ledger.OperationalCertificate(header)
		if err != nil || !bytes.Equal(hot, filled(32, 6)) || counter != 1 {
			t.Errorf("%s: hot key %x, counter %d, %v", ledger.EraNames[era], hot, counter, err)
		}
		if got := shown(header); !strings.Contains(got, `["pool","`+address.FormatPool(filled(32, 2))+`"]`) ||
			!strings.Contains(got, `["slot","7000"]`) {
			t.Errorf("%s: %s", ledger.EraNames[era], got)
		}
	}
	header := decoded(t, handmadeByron(t)).Header
	if _, _, err := ledger.OperationalCertificate(header); err == nil {
		t.Error("a header of Byron has an operational certificate")
	}
	if got := shown(header); !strings.Contains(got, `["pool",""]`) || !strings.Contains(got, `["era","byron"]`) {
		t.Error(got)
	}
}
