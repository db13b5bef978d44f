package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/model"
)

// Ours is the name of the decoder of the chain's adapter among [DecodeResult.Runs].
const Ours = "birthmark"

// DecodeResult compares the decoder of a chain's adapter with that of another project, over the same blocks on one
// goroutine each. Both make of a block all that the model has of it, and hash what they hash: what gouroboros and btcd leave out of
// that is little, encoding/json leaves out all of it.
type DecodeResult struct {
	Blocks int                   `json:"blocks"`
	Txs    int                   `json:"txs"`
	Bytes  int64                 `json:"bytes"`
	Runs   map[string]*DecodeRun `json:"runs"` // by the name of the decoder

	// How many times as fast ours is: by the time it takes, and by the CPU, which says the same on a
	// machine with nothing else to do and more on one that has.
	Ratio    float64 `json:"ratio"`
	CPURatio float64 `json:"cpu_ratio"`
}

// DecodeRun is what one decoder came to.
type DecodeRun struct {
	Rounds          int     `json:"rounds"` // how often all blocks were decoded
	TxsPerSecond    float64 `json:"txs_per_s"`
	BlocksPerSecond float64 `json:"blocks_per_s"`
	MBPerSecond     float64 `json:"mb_per_s"` // millions of bytes
	CPUMicrosPerTx  float64 `json:"cpu_us_per_tx"`
}

// Decode measures decoding blocks with values for the indexes.
func Decode(ctx context.Context, chain model.Chain, indexes []string, blocks [][]byte) (*DecodeResult, error) {
	name, theirs, err := reference(chain.Name())
	if err != nil {
		return nil, err
	}
	r := &DecodeResult{Blocks: len(blocks), Runs: map[string]*DecodeRun{}}
	for _, b := range blocks {
		r.Bytes += int64(len(b))
	}
	inputs := joined(blocks)
	reference := measured{name: name, round: func() (txs int, err error) {
		for i, raw := range blocks {
			n, err := theirs(raw)
			if err != nil {
				return 0, fmt.Errorf("%s: block %d: %w", name, i, err)
			}
			if txs += n; ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
		return txs, nil
	}}
	ours := measured{name: Ours, round: func() (txs int, err error) {
		for _, in := range inputs {
			for b, err := range chain.Decode(ctx, bytes.NewReader(in), indexes, 0) {
				if err != nil {
					return 0, err
				}
				txs += len(b.Txs)
			}
		}
		return txs, nil
	}}
	// By turns, so that what else the machine does counts for both.
	for range turns {
		for _, m := range []*measured{&reference, &ours} {
			if err := m.work(); err != nil {
				return nil, err
			}
		}
	}
	if reference.txs != ours.txs {
		return nil, fmt.Errorf("%s finds %d transactions in these blocks, we find %d", name, reference.txs, ours.txs)
	}
	r.Txs = ours.txs
	for _, m := range []*measured{&reference, &ours} {
		r.Runs[m.name] = m.run(r)
	}
	// Not by transactions: blocks may have none.
	r.Ratio = r.Runs[Ours].BlocksPerSecond / r.Runs[name].BlocksPerSecond
	r.CPURatio = (reference.cpu.Seconds() / float64(reference.rounds)) / (ours.cpu.Seconds() / float64(ours.rounds))
	return r, nil
}

// joinedSize is how many bytes of blocks an adapter is handed at once, about as many as a source reads.
const joinedSize = 1 << 20

// joined puts blocks one behind the other.
func joined(blocks [][]byte) (inputs [][]byte) {
	var in []byte
	for _, b := range blocks {
		if len(in) > 0 && len(in)+len(b) > joinedSize {
			inputs, in = append(inputs, in), nil
		}
		in = append(in, b...)
	}
	return append(inputs, in)
}

// A turn of a decoder takes as long as this at least, so that fast ones are measured as well as slow ones.
const (
	turns     = 3
	leastTurn = 200 * time.Millisecond
)

// measured is a decoder and what it took so far.
type measured struct {
	name      string
	round     func() (txs int, err error)
	rounds    int
	txs       int // of a round
	took, cpu time.Duration
}

// work does rounds until there are enough of them for a turn.
func (m *measured) work() (err error) {
	started, cpu := time.Now(), processCPU()
	for time.Since(started) < leastTurn {
		if m.txs, err = m.round(); err != nil {
			return err
		}
		m.rounds++
	}
	m.took += time.Since(started)
	m.cpu += processCPU() - cpu
	return nil
}

func (m *measured) run(r *DecodeResult) *DecodeRun {
	rounds, seconds := float64(m.rounds), m.took.Seconds()
	return &DecodeRun{
		Rounds:          m.rounds,
		TxsPerSecond:    rounds * float64(r.Txs) / seconds,
		BlocksPerSecond: rounds * float64(r.Blocks) / seconds,
		MBPerSecond:     rounds * float64(r.Bytes) / 1e6 / seconds,
		CPUMicrosPerTx:  m.cpu.Seconds() * 1e6 / max(rounds*float64(r.Txs), 1),
	}
}

// reference is the decoder that a chain's is compared with.
func reference(chain string) (name string, decode func(raw []byte) (txs int, err error), err error) {
	switch chain {
	case cardano.Name:
		return "gouroboros", gouroboros, nil
	case bitcoin.Name:
		return "btcd", btcd, nil
	case ergo.Name:
		return "encoding/json", encodingJSON, nil
	}
	return "", nil, model.Errorf(model.Usage, "unknown_chain", "decoding of %s has nothing to be compared with: expected %s, %s or %s", chain, cardano.Name, bitcoin.Name, ergo.Name)
}

// gouroboros decodes a block as chunks have it.
func gouroboros(raw []byte) (int, error) {
	if len(raw) < 2 || raw[0] != 0x82 || raw[1] > ledger.BlockTypeConway {
		return 0, fmt.Errorf("bytes %x begin no block", raw[:min(len(raw), 2)])
	}
	b, err := ledger.NewBlockFromCbor(uint(raw[1]), raw[2:])
	if err != nil {
		return 0, err
	}
	txs := b.Transactions()
	for _, tx := range txs {
		tx.Hash()
		tx.Consumed()
		for _, p := range tx.Produced() {
			p.Output.Assets()
		}
		tx.AssetMint()
	}
	return len(txs), nil
}

// btcd decodes a block as block files have it: behind the network's magic and its length.
func btcd(record []byte) (int, error) {
	var b wire.MsgBlock
	if err := b.Deserialize(bytes.NewReader(record[blockFileHead:])); err != nil {
		return 0, err
	}
	for _, tx := range b.Transactions {
		tx.TxHash()
	}
	return len(b.Transactions), nil
}

// encodingJSON decodes a full block of Ergo into structs and checks nothing: there is no other decoder in Go that would
// recompute ids.
func encodingJSON(raw []byte) (int, error) {
	var b struct {
		Header struct {
			ID, ParentID string
			Height       uint32
			Timestamp    int64
		}
		BlockTransactions struct {
			Transactions []struct {
				ID      string
				Inputs  []struct{ BoxID string }
				Outputs []struct {
					BoxID, ErgoTree string
					Value           uint64
					Assets          []struct {
						TokenID string
						Amount  uint64
					}
					AdditionalRegisters map[string]json.RawMessage
				}
			}
		}
	}
	err := json.Unmarshal(raw, &b)
	return len(b.BlockTransactions.Transactions), err
}
