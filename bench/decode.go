package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/bench/process"
	"birthmark/model"
)

// Ours is the name of the chain adapter's decoder in [DecodeResult.Runs].
const Ours = "birthmark"

// DecodeResult compares the decoder of a chain's adapter with that of another project on the same blocks, on one
// goroutine each. btcd and gouroboros compute nearly all parts of a block that the model has, including hashes;
// encoding/json computes no hashes.
type DecodeResult struct {
	Blocks int                   `json:"blocks"`
	Txs    int                   `json:"txs"`
	Bytes  int64                 `json:"bytes"`
	Runs   map[string]*DecodeRun `json:"runs"` // by name of the decoder

	// Speed of our decoder relative to the other one, by elapsed time and by CPU time. The latter is more precise on a
	// busy machine.
	Ratio    float64 `json:"ratio"`
	CPURatio float64 `json:"cpu_ratio"`
}

// DecodeRun is the result of one decoder.
type DecodeRun struct {
	Rounds          int     `json:"rounds"` // number of times all blocks were decoded
	TxsPerSecond    float64 `json:"txs_per_s"`
	BlocksPerSecond float64 `json:"blocks_per_s"`
	MBPerSecond     float64 `json:"mb_per_s"` // 10^6 bytes
	CPUMicrosPerTx  float64 `json:"cpu_us_per_tx"`
}

// Decode measures decoding of blocks with values of indexes. Each decoder gets several turns of at least the given
// duration.
func Decode(ctx context.Context, chain model.Chain, indexes []string, blocks [][]byte, turn time.Duration) (*DecodeResult, error) {
	s, err := chainNamed(chain.Name())
	if err != nil {
		return nil, err
	}
	name, theirs := s.peer, s.decode
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
	// Alternating, so that other load on the machine affects both.
	for range turns {
		for _, m := range []*measured{&reference, &ours} {
			if err := m.work(turn); err != nil {
				return nil, err
			}
		}
	}
	if reference.txs != ours.txs {
		return nil, fmt.Errorf("%s decodes %d transactions, birthmark %d", name, reference.txs, ours.txs)
	}
	r.Txs = ours.txs
	for _, m := range []*measured{&reference, &ours} {
		r.Runs[m.name] = m.run(r)
	}
	// Not per transaction: blocks may have none.
	r.Ratio = r.Runs[Ours].BlocksPerSecond / r.Runs[name].BlocksPerSecond
	r.CPURatio = (reference.cpu.Seconds() / float64(reference.rounds)) / (ours.cpu.Seconds() / float64(ours.rounds))
	return r, nil
}

// joinedSize is the approximate number of bytes that an adapter decodes at once, as in a source.
const joinedSize = 1 << 20

// joined concatenates blocks to inputs of about joinedSize bytes.
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

const turns = 3

// MinTurn is a duration of a turn with which fast decoders are measured precisely.
const MinTurn = 200 * time.Millisecond

// measured is a decoder and the time it has taken.
type measured struct {
	name      string
	round     func() (txs int, err error)
	rounds    int
	txs       int // per round
	took, cpu time.Duration
}

// work decodes all blocks repeatedly for the duration of a turn.
func (m *measured) work(turn time.Duration) (err error) {
	started, cpu := time.Now(), process.CPU()
	for time.Since(started) < turn {
		if m.txs, err = m.round(); err != nil {
			return err
		}
		m.rounds++
	}
	m.took += time.Since(started)
	m.cpu += process.CPU() - cpu
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

// decodeWithGouroboros decodes a block in the format of a chunk.
func decodeWithGouroboros(raw []byte) (int, error) {
	if len(raw) < 2 || raw[0] != 0x82 || raw[1] > ledger.BlockTypeConway {
		return 0, fmt.Errorf("unknown block type %x", raw[:min(len(raw), 2)])
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

// decodeWithBtcd decodes a block of a block file, with its magic and size.
func decodeWithBtcd(record []byte) (int, error) {
	var b wire.MsgBlock
	if err := b.Deserialize(bytes.NewReader(record[blockFileHead:])); err != nil {
		return 0, err
	}
	for _, tx := range b.Transactions {
		tx.TxHash()
	}
	return len(b.Transactions), nil
}

// decodeWithEncodingJSON decodes a full block of Ergo into structs without checking ids: no other decoder in Go
// computes them.
func decodeWithEncodingJSON(raw []byte) (int, error) {
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
