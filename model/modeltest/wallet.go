package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"birthmark/model"
)

// wallet is a wallet of a made-up chain. Its text is "wallet:" and the branches, separated by semicolons. A branch is
// values in hex, separated by commas; "-" is a value that no output has, and nothing is a position that is left out. All
// positions after these have values that no output has. A text that begins with "fixed:" has no such positions.
type wallet struct {
	branches [][]string
	ranged   bool
}

// ReadWallet implements [model.WalletReader] for the index address. A text with "secret" is refused as a private key.
func (c chain) ReadWallet(index, text string) (model.Wallet, error) {
	lists, ranged := strings.CutPrefix(text, "wallet:")
	fixed, isFixed := strings.CutPrefix(text, "fixed:")
	switch {
	case index != "address":
		return nil, nil
	case strings.Contains(text, "secret"):
		return nil, model.Errorf(model.Usage, "private_key", "a private key")
	case isFixed:
		lists = fixed
	case !ranged:
		return nil, nil
	}
	w := wallet{ranged: ranged}
	for branch := range strings.SplitSeq(lists, ";") {
		w.branches = append(w.branches, strings.Split(branch, ","))
	}
	return w, nil
}

func (w wallet) Branches() int { return len(w.branches) }
func (w wallet) Ranged() bool  { return w.ranged }

func (w wallet) Path(branch, position int) string { return fmt.Sprintf("m/%d/%d", branch, position) }

func (w wallet) Values(branch, position int) ([][]byte, int, error) {
	text := "-"
	if position < len(w.branches[branch]) {
		text = w.branches[branch][position]
	}
	switch text {
	case "":
		return nil, 1, nil
	case "-":
		sum := sha256.Sum256(fmt.Append(nil, branch, " ", position))
		return [][]byte{sum[:]}, 1, nil
	}
	value, err := hex.DecodeString(text)
	return [][]byte{value}, 1, err
}

// ChooseIndex implements [model.IndexChooser]: values of the index tag can be given as values of the index address.
func (c chain) ChooseIndex(index, text string) string {
	if index == "address" && strings.HasPrefix(text, "t") {
		return "tag"
	}
	return index
}
