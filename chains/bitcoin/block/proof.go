package block

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chainhash/v2"
	"golang.org/x/crypto/scrypt"

	"birthmark/model"
)

// Scrypt returns the hash whose work coins with scrypt require of a header: N 1024, r 1, p 1, and the header as password
// and salt. It takes about a millisecond.
func Scrypt(header []byte) model.Hash {
	key, err := scrypt.Key(header, header, 1024, 1, 1, len(model.Hash{}))
	if err != nil {
		panic(err) // the parameters are constant and valid
	}
	return model.Hash(key)
}

// ScryptWork is [Format.Work] of coins with scrypt.
func ScryptWork(header, _ []byte) error { return Header(header).Meets(Scrypt(header)) }

// Meets returns an error if a hash of the header, or of another header that commits to it, does not meet its target.
func (h Header) Meets(hash model.Hash) error {
	target, ok := ExpandTarget(h.Bits())
	id := chainhash.Hash(hash)
	if !ok || blockchain.HashToBig(&id).Cmp(target) > 0 {
		return fmt.Errorf("header %s does not have the proof of work that its target %08x requires", FormatHash(h.Hash()), h.Bits())
	}
	return nil
}

// MergeMined is the bit of a header's version that announces a proof of merged mining.
const MergeMined = 1 << 8

// legacy is the format of a transaction without witnesses.
var legacy = Format{MaxSize: MaxSize, MaxMoney: 1<<63 - 1}

// TakeMergedMining is [Format.Tail] of coins with merged mining: the coinbase of a block of another chain, its merkle
// branch, the branch to this block in the tree of merge-mined chains, and the header of the other block.
func TakeMergedMining(r *Reader, header []byte) {
	if Header(header).Version()&MergeMined != 0 {
		readMergedMining(r)
	}
}

// mergedMining is a proof of merged mining.
type mergedMining struct {
	coinbase       []byte
	branch, chains []byte // hashes
	index, chain   uint32 // positions in the trees
	parent         Header
}

func readMergedMining(r *Reader) (m mergedMining) {
	start := r.at
	legacy.readTx(r, true)
	m.coinbase = r.b[start:r.at]
	r.Take(32, "hash of the parent")
	m.branch, m.index = readBranch(r)
	m.chains, m.chain = readBranch(r)
	m.parent = r.Take(HeaderSize, "parent header")
	return m
}

func readBranch(r *Reader) (hashes []byte, index uint32) {
	hashes = r.Take(32*r.Count(32, "merkle branch"), "merkle branch")
	if b := r.Take(4, "position"); b != nil {
		index = binary.LittleEndian.Uint32(b)
	}
	return hashes, index
}

// CheckMergedMining checks the scrypt work of a header, or of the parent header that commits to it. It does not check at
// which position the tree of merge-mined chains has this one.
func CheckMergedMining(header, tail []byte) error {
	h := Header(header)
	if h.Version()&MergeMined == 0 {
		return ScryptWork(header, nil)
	}
	r := Reader{b: tail}
	m := readMergedMining(&r)
	if r.err != nil {
		return r.err
	}
	tx, err := legacy.Parts(m.coinbase)
	if err != nil {
		return err
	}
	root := fold(h.Hash(), m.chains, m.chain)
	slices.Reverse(root[:])
	switch {
	case m.index != 0:
		return errors.New("merged mining: the transaction of the parent is not its coinbase")
	case !bytes.Contains(tx.Inputs[0].Script, root[:]):
		return errors.New("merged mining: the coinbase of the parent does not commit to the block")
	case fold(DoubleHash(m.coinbase), m.branch, 0) != m.parent.MerkleRoot():
		return errors.New("merged mining: the coinbase is not in the parent")
	}
	return h.Meets(Scrypt(m.parent))
}

// fold returns the root of a merkle tree from a leaf, its branch and its position.
func fold(leaf model.Hash, branch []byte, index uint32) model.Hash {
	for ; len(branch) > 0; branch, index = branch[32:], index>>1 {
		pair := append(leaf[:], branch[:32]...)
		if index&1 != 0 {
			pair = slices.Concat(branch[:32], leaf[:])
		}
		once := sha256.Sum256(pair)
		leaf = sha256.Sum256(once[:])
	}
	return leaf
}
