package contents

import (
	"encoding/hex"
	"math/big"
	"net/netip"
	"strconv"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
)

// Pool is the parameters of a pool in its certificate (rule pool_params of the ledger's CDDL).
type Pool struct {
	Hash          string        `json:"-"` // of its cold key
	ID            string        `json:"pool_id"`
	VRFKey        string        `json:"vrf_key"`
	Pledge        string        `json:"pledge"`
	MarginCost    float64       `json:"margin_cost"`
	FixedCost     string        `json:"fixed_cost"`
	RewardAccount string        `json:"reward_account"`
	Owners        []string      `json:"owners"`
	Metadata      *PoolMetadata `json:"metadata"` // nil: it has none
	Relays        []Relay       `json:"relays"`
}

// PoolMetadata is where the metadata of a pool is. Its contents are outside of the chain.
type PoolMetadata struct {
	URL         *string `json:"url"`
	Hash        *string `json:"hash"`
	Ticker      *string `json:"ticker"`
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Homepage    *string `json:"homepage"`
}

// Relay is a node of a pool: an IPv4 and an IPv6 address, or a name in the DNS, of a host or of a service.
type Relay struct {
	IPv4   *string `json:"ipv4"`
	IPv6   *string `json:"ipv6"`
	DNS    *string `json:"dns"`
	DNSSrv *string `json:"dns_srv"`
	Port   uint64  `json:"port"`
}

// ReadPool reads a certificate in hex that registers a pool on a network.
func ReadPool(digits string, n address.Network) (*Pool, error) {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return nil, err
	}
	w := cbor.Walker{Data: raw}
	f := w.Fields("certificate")
	f.Skip("type")
	operator := f.BytesOf(address.CredentialSize, "operator")
	p := &Pool{
		Hash: hex.EncodeToString(operator), ID: address.FormatPoolHash(operator), VRFKey: hex.EncodeToString(f.Bytes("VRF key")),
		Owners: []string{}, Relays: []Relay{},
	}
	ledger.SkipBLSKey(&f)
	p.Pledge, p.FixedCost = strconv.FormatUint(f.Uint("pledge"), 10), strconv.FormatUint(f.Uint("cost"), 10)
	p.MarginCost = fraction(f.Item("margin"))
	p.RewardAccount = address.FormatAccount(n, f.Bytes("reward account"))
	owners, ownersErr := ledger.Hashes(f.Item("owners"))
	for _, hash := range owners {
		p.Owners = append(p.Owners, address.FormatStakeCredential(n, append([]byte{0}, hash...)))
	}
	relays := cbor.Walker{Data: f.Item("relays")}
	for n := relays.Array("relays"); relays.More(&n); {
		p.Relays = append(p.Relays, readRelay(relays.Item("relay")))
	}
	metadata := cbor.Walker{Data: f.Item("metadata")}
	if w.Err == nil && metadata.Major() == cbor.Array {
		m := metadata.Fields("metadata")
		in := cbor.Walker{Data: m.Item("URL")}
		url, hash := string(in.Text("URL")), hex.EncodeToString(m.Bytes("hash"))
		p.Metadata = &PoolMetadata{URL: &url, Hash: &hash}
	}
	for _, err := range []error{w.Err, ownersErr, relays.Err, metadata.Err} {
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// fraction returns a rational number (tag 30), 0 if it is malformed.
func fraction(item []byte) float64 {
	w := cbor.Walker{Data: item}
	if w.Major() == cbor.Tag {
		w.Head("fraction")
	}
	f := w.Fields("fraction")
	over, under := f.Uint("numerator"), f.Uint("denominator")
	if w.Err != nil || under == 0 {
		return 0
	}
	n, _ := new(big.Rat).SetFrac(new(big.Int).SetUint64(over), new(big.Int).SetUint64(under)).Float64()
	return n
}

// readRelay reads a relay; a malformed one has no address.
func readRelay(item []byte) (r Relay) {
	w := cbor.Walker{Data: item}
	f := w.Fields("relay")
	kind := f.Uint("kind of a relay")
	if kind < 2 {
		port := cbor.Walker{Data: f.Item("port")}
		if port.Major() == cbor.Uint {
			r.Port = port.Uint("port")
		}
	}
	switch kind {
	case 0:
		r.IPv4, r.IPv6 = readIP(f.Item("IPv4 address")), readIP(f.Item("IPv6 address"))
	case 1, 2:
		in := cbor.Walker{Data: f.Item("name")}
		name := string(in.Text("name"))
		if r.DNS = &name; kind == 2 {
			r.DNS, r.DNSSrv = nil, &name
		}
	}
	return r
}

// readIP reads an address of 4 or 16 bytes. An IPv6 address is four words, each with its lowest byte first.
func readIP(item []byte) *string {
	w := cbor.Walker{Data: item}
	if w.Major() != cbor.Bytes {
		return nil
	}
	raw := w.Bytes("address")
	if len(raw) == 16 {
		swapped := make([]byte, 16)
		for i := range raw {
			swapped[i] = raw[i/4*4+3-i%4]
		}
		raw = swapped
	}
	ip, ok := netip.AddrFromSlice(raw)
	if !ok {
		return nil
	}
	text := ip.String()
	return &text
}
