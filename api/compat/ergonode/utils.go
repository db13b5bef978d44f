package ergonode

import (
	"encoding/binary"
	"encoding/hex"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/jsonappend"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
)

func (p *protocol) addressToTree(r *request) (any, error) {
	return &treeValue{p.addressArg(r)}, r.Refused()
}

// addressToBytes returns the tree of an address as a constant of type Coll[Byte].
func (p *protocol) addressToBytes(r *request) (any, error) {
	const collByte = 0x0e
	tree := p.addressArg(r)
	return &bytesValue{append(binary.AppendUvarint([]byte{collByte}, uint64(len(tree))), tree...)}, r.Refused()
}

func (p *protocol) checkAddress(r *request) (any, error) {
	v := &checkedValue{Address: textArg(r, "address"), Valid: true}
	if err := r.Refused(); err != nil {
		return nil, err
	}
	if _, err := p.AddressIndex().Parse(v.Address); err != nil {
		v.Valid, v.Error = false, err.Error()
	}
	return v, nil
}

// addressToRaw returns the content of an address: a key, a hash or a tree.
func (p *protocol) addressToRaw(r *request) (any, error) {
	stored := p.storedArg(r)
	if err := r.Refused(); err != nil {
		return nil, err
	}
	return &rawValue{stored[1:]}, nil
}

func (p *protocol) rawToAddress(r *request) (any, error) {
	text, _ := r.Arg("key")
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != sigma.PointSize || !sigma.IsPoint(key) {
		return nil, bad("expected a public key: 33 bytes in hex")
	}
	return p.addressOf(sigma.PublicKeyTree([sigma.PointSize]byte(key))), nil
}

func (p *protocol) treeToAddress(r *request) (any, error) {
	tree := treeArg(r)
	if err := r.Refused(); err != nil {
		return nil, err
	}
	return p.addressOf(tree), nil
}

func (p *protocol) addressOf(tree []byte) *addressValue {
	return &addressValue{p.AddressIndex().Format(ergo.StoredAddress(tree))}
}

func hash(r *request) (any, error) {
	sum := blake2b.Sum256([]byte(textArg(r, "")))
	return jsonappend.Hex(sum[:]), r.Refused()
}
