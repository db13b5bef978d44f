package ergonode

import (
	"encoding/binary"
	"encoding/hex"
	"net/http"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
)

var utilEndpoints = []endpoint{
	{http.MethodGet, "script/addressToTree/*", addressToTree, nothing},
	{http.MethodGet, "script/addressToBytes/*", addressToBytes, nothing},
	{http.MethodGet, "utils/address/*", checkAddress, nothing},
	{http.MethodPost, "utils/address", posted(checkAddress), nothing},
	{http.MethodGet, "utils/addressToRaw/*", addressToRaw, nothing},
	{http.MethodGet, "utils/rawToAddress/*", rawToAddress, nothing},
	{http.MethodGet, "utils/ergoTreeToAddress/*", treeToAddress, nothing},
	{http.MethodPost, "utils/ergoTreeToAddress", posted(treeToAddress), nothing},
	{http.MethodPost, "utils/hash/blake2b", posted(hash), nothing},
}

func (q *request) addHexAs(name string, b []byte) {
	q.Add(`{"`, name, `":`)
	q.Hex(b)
	q.Add("}")
}

func addressToTree(q *request, args []string) error {
	tree, err := q.address(args[0])
	if err == nil {
		q.addHexAs("tree", tree)
	}
	return err
}

// addressToBytes writes the tree of an address as a constant of type Coll[Byte].
func addressToBytes(q *request, args []string) error {
	tree, err := q.address(args[0])
	if err == nil {
		const collByte = 0x0e
		q.addHexAs("bytes", append(binary.AppendUvarint([]byte{collByte}, uint64(len(tree))), tree...))
	}
	return err
}

func checkAddress(q *request, args []string) error {
	_, err := q.address(args[0])
	q.Add(`{"address":`)
	q.Text(args[0])
	if err == nil {
		q.Add(`,"isValid":true}`)
		return nil
	}
	q.Add(`,"isValid":false,"error":`)
	q.Text(*err.(*failure).Detail)
	q.Add("}")
	return nil
}

// addressToRaw writes the content of an address: a key, a hash or a tree.
func addressToRaw(q *request, args []string) error {
	stored, err := q.stored(args[0])
	if err == nil {
		q.addHexAs("raw", stored[1:])
	}
	return err
}

func rawToAddress(q *request, args []string) error {
	key, err := hex.DecodeString(args[0])
	if err != nil || len(key) != sigma.PointSize || !sigma.IsPoint(key) {
		return bad("expected a public key: 33 bytes in hex")
	}
	q.addAddress(sigma.PublicKeyTree([sigma.PointSize]byte(key)))
	return nil
}

func treeToAddress(q *request, args []string) error {
	tree, err := boxes.ParseTree(args[0])
	if err == nil {
		q.addAddress(tree)
	}
	return err
}

func (q *request) addAddress(tree []byte) {
	x := q.Chain.AddressIndex()
	q.Add(`{"address":`)
	q.Text(x.Format(ergo.StoredAddress(tree)))
	q.Add("}")
}

func hash(q *request, args []string) error {
	sum := blake2b.Sum256([]byte(args[0]))
	q.Hex(sum[:])
	return nil
}
