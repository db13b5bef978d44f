package bitcoin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(s), "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// prevout is an output that a block spends, as an undo file or another program lists it.
type prevout struct {
	value  uint64
	script []byte
}

// checkPrevouts compares prevouts, one for each spending input in order, with the block: outputs that the block both
// creates and spends are equal, and the outputs are worth at most the inputs plus the subsidy.
func checkPrevouts(t *testing.T, name string, n *params.Network, b *model.Block, height model.HeightPk, prevouts []prevout) {
	t.Helper()
	outputs := map[string]*model.Output{}
	in, out, own, next := uint64(0), uint64(0), 0, 0
	for i, tx := range b.Txs {
		for _, input := range tx.Inputs {
			if next == len(prevouts) {
				t.Fatalf("%s: more inputs than the %d prevouts", name, len(prevouts))
			}
			p := prevouts[next]
			next++
			in += p.value
			if o := outputs[fmt.Sprint(input.Tx, input.Index)]; o != nil {
				own++
				compareOutput(t, fmt.Sprintf("%s: spent by transaction %d", name, i), n, o, p.value, p.script)
			}
		}
		for j := range tx.Outputs {
			outputs[fmt.Sprint(tx.Hash, uint32(j))] = &tx.Outputs[j]
			out += tx.Outputs[j].Value
		}
	}
	if next != len(prevouts) {
		t.Errorf("%s: %d inputs, %d prevouts", name, next, len(prevouts))
	}
	before := uint64(0)
	if height > 0 {
		before = n.Supply(height - 1)
	}
	if subsidy := n.Supply(height) - before; out > in+subsidy {
		t.Errorf("%s: outputs of %d, inputs of %d and a subsidy of %d", name, out, in, subsidy)
	} else if out < in+subsidy {
		t.Logf("%s: the miner claimed %d less than allowed", name, in+subsidy-out)
	}
	t.Logf("%s: %d prevouts, %d of the block's own", name, next, own)
}

func TestInputsMatchUndoFiles(t *testing.T) {
	for name, network := range map[string]string{
		"block300025": "mainnet", "block928816": "testnet3", "block928828": "testnet3", "block928848": "testnet3",
	} {
		n, err := networks.Get(Name, network)
		if err != nil {
			t.Fatal(err)
		}
		b := decodeAll(t, network, readData(t, "bcoin", name+".raw"), allIndexes)[0]
		// bcoin writes the value and the script of each coin in the order of the inputs.
		var prevouts []prevout
		r := bytes.NewReader(readData(t, "bcoin", name+"-undo.raw"))
		for r.Len() > 0 {
			var value [8]byte
			if _, err := io.ReadFull(r, value[:]); err != nil {
				t.Fatal(err)
			}
			script, err := wire.ReadVarBytes(r, 0, 10_000, "script")
			if err != nil {
				t.Fatal(err)
			}
			prevouts = append(prevouts, prevout{binary.LittleEndian.Uint64(value[:]), script})
		}
		var height model.HeightPk
		if _, err := fmt.Sscanf(name, "block%d", &height); err != nil {
			t.Fatal(err)
		}
		if b.Height != height {
			t.Errorf("%s: the coinbase has the height %d", name, b.Height)
		}
		checkPrevouts(t, name, n, b, height, prevouts)
	}
}

func TestInputsMatchRaito(t *testing.T) {
	for _, height := range []model.HeightPk{170, 24835, 57043, 91722, 116928, 150013, 210000, 757739} {
		var file struct {
			Blocks []struct {
				Data struct {
					Transactions []struct {
						Inputs []struct {
							Previous struct {
								ID   string `json:"txid"`
								Out  uint32 `json:"vout"`
								Data struct {
									Value  uint64 `json:"value"`
									Script string `json:"pk_script"`
								} `json:"data"`
							} `json:"previous_output"`
						} `json:"inputs"`
						Outputs []struct {
							Value  uint64 `json:"value"`
							Script string `json:"pk_script"`
						} `json:"outputs"`
					} `json:"transactions"`
				} `json:"data"`
			} `json:"blocks"`
			Expected struct {
				Height model.HeightPk `json:"block_height"`
				Hash   string         `json:"best_block_hash"`
			} `json:"expected"`
		}
		readJSON(t, &file, "raito", fmt.Sprintf("full_%d.json", height-1))
		blocks, err := New("mainnet")
		if err != nil {
			t.Fatal(err)
		}
		var b *model.Block
		input := readData(t, "converted", fmt.Sprintf("raito_%d_%d.blk.dat", height, height))
		for one, err := range blocks.Decode(t.Context(), newBuffered(input), allIndexes, height) {
			if err != nil {
				t.Fatal(err)
			}
			b = one
		}
		if block.FormatHash(b.Hash) != file.Expected.Hash || b.Height != file.Expected.Height {
			t.Errorf("block %d %s, expected %d %s", b.Height, block.FormatHash(b.Hash), file.Expected.Height, file.Expected.Hash)
		}
		var prevouts []prevout
		for i, tx := range file.Blocks[0].Data.Transactions {
			for j, in := range tx.Inputs {
				if i == 0 {
					continue
				}
				prevouts = append(prevouts, prevout{in.Previous.Data.Value, unhex(t, in.Previous.Data.Script)})
				if o := b.Txs[i].Inputs[j]; block.FormatHash(o.Tx) != in.Previous.ID || o.Index != in.Previous.Out {
					t.Errorf("block %d, transaction %d: input %d spends %s:%d, expected %s:%d", height, i, j, block.FormatHash(o.Tx), o.Index, in.Previous.ID, in.Previous.Out)
				}
			}
			for j, out := range tx.Outputs {
				compareOutput(t, fmt.Sprintf("block %d, transaction %d", height, i), networks[0], &b.Txs[i].Outputs[j], out.Value, unhex(t, out.Script))
			}
		}
		checkPrevouts(t, fmt.Sprintf("block %d", height), networks[0], b, height, prevouts)
	}
}

func TestInputsMatchFloresta(t *testing.T) {
	b := decodeAll(t, "mainnet", readData(t, "floresta", "block_367891", "raw.zst"), allIndexes)[0]
	var coins []struct {
		TxOut struct {
			Value  uint64 `json:"value"`
			Script string `json:"script_pubkey"`
		} `json:"txout"`
	}
	if err := json.Unmarshal(readData(t, "floresta", "block_367891", "spent_utxos.zst"), &coins); err != nil {
		t.Fatal(err)
	}
	prevouts := make([]prevout, len(coins))
	for i, c := range coins {
		prevouts[i] = prevout{c.TxOut.Value, unhex(t, c.TxOut.Script)}
	}
	checkPrevouts(t, "block 367891", networks[0], b, 367891, prevouts)
}

// TestInputsMatchTheUTXOStore uses btcd's file of the outputs that its block 277647 spends.
func TestInputsMatchTheUTXOStore(t *testing.T) {
	b := decodeAll(t, "mainnet", readData(t, "btcd", "277647.dat.bz2"), nil)[0]
	stored := map[string]bool{}
	for r := bytes.NewBuffer(readData(t, "btcd", "277647.utxostore.bz2")); r.Len() > 0; {
		stored[string(r.Next(36))] = true
		r.Next(int(binary.LittleEndian.Uint32(r.Next(4))))
	}
	found := 0
	for _, tx := range b.Txs {
		for _, in := range tx.Inputs {
			if !stored[string(binary.LittleEndian.AppendUint32(in.Tx[:], in.Index))] {
				t.Errorf("input %s:%d is not in the store", block.FormatHash(in.Tx), in.Index)
			}
			found++
		}
	}
	if found != len(stored) {
		t.Errorf("%d inputs, %d outputs stored", found, len(stored))
	}
}

// TestBlockFiltersBlocks uses the blocks of BIP 158's vectors, which have unusual scripts, and the scripts that their
// inputs spend.
func TestBlockFiltersBlocks(t *testing.T) {
	var rows [][]any
	readJSON(t, &rows, "bitcoin-core", "blockfilters.json")
	for _, row := range rows[1:] {
		b := decodeAll(t, "testnet3", []byte(row[2].(string)), allIndexes)[0]
		inputs := 0
		for _, tx := range b.Txs {
			inputs += len(tx.Inputs)
		}
		if block.FormatHash(b.Hash) != row[1].(string) || inputs != len(row[3].([]any)) {
			t.Errorf("block %v: %s with %d inputs, expected %v with %d", row[0], block.FormatHash(b.Hash), inputs, row[1], len(row[3].([]any)))
		}
	}
}
