package cardano

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// u5cBlock is a block in the JSON of the UTxO RPC specification. Bytes are in base64. Numbers with their default value
// are omitted.
type u5cBlock struct {
	Header struct {
		Hash         []byte
		Height, Slot uint64 `json:",string"`
	}
	Body struct {
		Tx []struct {
			Hash    []byte
			Inputs  []u5cInput
			Outputs []struct {
				Address []byte
				Coin    u5cNumber
				Assets  []u5cAssets
				Datum   struct{ Hash []byte }
			}
			Mint []u5cAssets
			Fee  u5cNumber
		}
	}
}

type u5cInput struct {
	TxHash      []byte
	OutputIndex uint32
}

type u5cNumber struct{ Int json.Number }

type u5cAssets struct {
	PolicyID []byte `json:"policyId"`
	Assets   []struct {
		Name     []byte
		Quantity u5cNumber
	}
}

func u5cJoined(prefix string, all []u5cAssets) string {
	var lines []string
	for _, p := range all {
		for _, a := range p.Assets {
			lines = append(lines, fmt.Sprintf("%x%x %s", p.PolicyID, a.Name, a.Quantity.Int))
		}
	}
	return joined(prefix, lines)
}

// A third decoder is pallas with the JSON of the UTxO RPC specification. It sorts inputs by hash.
func TestBlocksMatchUTxORPC(t *testing.T) {
	var want u5cBlock
	if err := json.Unmarshal(realFile(t, "pallas", "u5c_v1beta.json"), &want); err != nil {
		t.Fatal(err)
	}
	b := decoded(t, realFile(t, "pallas", "u5c1.block"), indexAddress, indexDatumHash)
	if fmt.Sprintf("%x", want.Header.Hash) != b.Hash.String() || want.Header.Height != uint64(b.Height) || want.Header.Slot != b.Slot {
		t.Fatalf("block %d %s at slot %d, expected %+v", b.Height, b.Hash, b.Slot, want.Header)
	}
	var theirs, ours strings.Builder
	for _, tx := range want.Body.Tx {
		fmt.Fprintf(&theirs, "tx %x fee %s\n", tx.Hash, tx.Fee.Int)
		var inputs []string
		for _, in := range tx.Inputs {
			inputs = append(inputs, fmt.Sprintf("%x:%d", in.TxHash, in.OutputIndex))
		}
		theirs.WriteString(joined("  in", inputs))
		for _, o := range tx.Outputs {
			fmt.Fprintf(&theirs, "  out %s to %x", o.Coin.Int, o.Address)
			if len(o.Datum.Hash) > 0 {
				fmt.Fprintf(&theirs, " datum %x", o.Datum.Hash)
			}
			theirs.WriteString("\n" + u5cJoined("    asset", o.Assets))
		}
		theirs.WriteString(u5cJoined("  mint", tx.Mint))
	}
	for _, tx := range b.Txs {
		fmt.Fprintf(&ours, "tx %s fee %d\n", tx.Hash, tx.Fee.Amount)
		var inputs []string
		for _, in := range tx.Inputs {
			inputs = append(inputs, fmt.Sprintf("%s:%d", in.Tx, in.Index))
		}
		ours.WriteString(joined("  in", inputs))
		for _, o := range tx.Outputs {
			fmt.Fprintf(&ours, "  out %d", o.Value)
			for _, k := range o.Keys {
				ours.WriteString([]string{" to ", " datum "}[k.Index] + fmt.Sprintf("%x", k.Value))
			}
			var assets []string
			for _, a := range o.Assets {
				assets = append(assets, fmt.Sprintf("%x %d", a.ID, a.Amount))
			}
			ours.WriteString("\n" + joined("    asset", assets))
		}
		var mints []string
		for _, m := range tx.Mints {
			mints = append(mints, fmt.Sprintf("%x %s", m.Asset, m.Amount))
		}
		ours.WriteString(joined("  mint", mints))
	}
	if ours.String() != theirs.String() {
		t.Errorf("\n got %s\nwant %s", ours.String(), theirs.String())
	}
}
