package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/rules"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// headersBefore returns a function that looks up headers of a chain by height.
func headersBefore(headers [][]byte) func(model.HeightPk) ([]byte, error) {
	return func(h model.HeightPk) ([]byte, error) {
		if int(h) >= len(headers) {
			return nil, nil
		}
		return headers[h], nil
	}
}

func TestHeadersOfRealChainsPassTheCheck(t *testing.T) {
	for name, c := range map[string]struct {
		network string
		input   []byte
	}{
		"mainnet":  {"mainnet", readData(t, "jeffchan", "blk00000.dat")},
		"signet":   {"signet", readData(t, "converted", "floresta_signet_0_120.blk.dat")},
		"utreexod": {"regtest", readData(t, "utreexod", "blocks.txt")},
		"core":     {"regtest", readData(t, "converted", "core_regtest_getblockstats.blk.dat")},
	} {
		n, err := networks.Get(Name, c.network)
		if err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, c.network, write(t, map[string][]byte{"blk00000.dat": framed(n, rawBlocks(t, n, c.input)...)}))
		blocks, _, err := collect(t, s)
		if err != nil || len(blocks) < 100 {
			t.Fatal(name, len(blocks), err)
		}
		checker, headers := newChain(n), [][]byte{}
		for _, b := range blocks {
			if err := checker.CheckHeader(b, headersBefore(headers)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			headers = append(headers, b.Header)
		}
		at := blocks[len(blocks)/2]
		broken := errors.New("the disk is broken")
		read := func(model.HeightPk) ([]byte, error) { return nil, broken }
		if err := checker.CheckHeader(at, read); !errors.Is(err, broken) {
			t.Errorf("%s: headers that cannot be read are reported as %v", name, err)
		} else if kind, _ := model.KindOf(err); kind != model.Internal {
			t.Errorf("%s: headers that cannot be read are of kind %v", name, kind)
		}
	}
}

// Bitcoin Cash has the same block 0 and the same magic: only a checkpoint distinguishes the chains.
func TestCheckpointsDistinguishChainsWithCommonFirstBlocks(t *testing.T) {
	const cash = "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec" // Bitcoin Cash's first block after the split
	for network, others := range map[string][]struct {
		height model.HeightPk
		want   string
	}{
		"mainnet": {
			{0, "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"},
			{11_111, "0000000069e244f73d78e8fd29ba2fd2ed618bd6fa2ee92559f542fdb26e7c1d"},
			{478_558, "0000000000000000011865af4122fe3b144e2cbeea86142e8ff2fb4107352d43"},
			{478_559, "00000000000000000019f112ec0a9982926f1258cdcc558dd7c3b7e5dc7fa148"},
			{935_000, "0000000000000000000147034958af1652b2b91bba607beacc5e72a56f0fb5ee"},
		},
		"testnet3": {{546, "000000002a936ca763904c3c35fce2f3556c559c0214345d31b1bcebf76acb70"}},
		"testnet4": {{90_000, "0000000002ebe8bcda020e0dd6ccfbdfac531d2f6a81457191b99fc2df2dbe3b"}},
		"signet":   {{160_000, "0000003ca3c99aff040f2563c2ad8f8ec88bd0fd6b8f0895cfaf1ef90353a62c"}},
		"regtest":  {{0, "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"}},
	} {
		n, err := networks.Get(Name, network)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range others {
			hash, _ := block.ParseHash(cash)
			b := &model.Block{Height: c.height, Hash: hash, Header: make([]byte, block.HeaderSize)}
			err := (newChain(n)).CheckHeader(b, headersBefore(nil))
			fails(t, err, "wrong_network", cash, c.want, "bitcoin "+network)
		}
	}
}

// retargeting returns regtest with a new difficulty every ten blocks.
func retargeting() *params.Network {
	p := chaincfg.RegressionNetParams
	p.PoWNoRetargeting, p.ReduceMinDifficulty = false, false
	p.TargetTimePerBlock, p.TargetTimespan = 10*time.Minute, 100*time.Minute
	n := *params.Networks[4]
	n.Params, n.Rules = &p, rules.New(&p, nil)
	return &n
}

// The target changes at the interval and by the factor that the rules require, independent of the proof of work.
func TestTargetsFollowTheDifficultyRules(t *testing.T) {
	n := retargeting()
	checker := newChain(n)
	// 45 %: nine intervals of five minutes instead of one hundred minutes.
	half := new(big.Int).Div(new(big.Int).Mul(n.Params.PowLimit, big.NewInt(45)), big.NewInt(100))
	first, second := n.Params.PowLimitBits, blockchain.BigToCompact(half)
	var headers [][]byte
	b := n.Params.GenesisBlock.Header
	for height := range 20 {
		required := first
		if height >= 10 {
			required = second
		}
		for _, bits := range []uint32{first, second, 0x2000ffff} {
			if height > 0 {
				b = wire.BlockHeader{Version: 0x20000000, PrevBlock: hashOf(headers[height-1]), Bits: bits,
					Timestamp: n.Params.GenesisBlock.Header.Timestamp.Add(time.Duration(height) * 5 * time.Minute)}
				m := wire.NewMsgBlock(&b)
				bitcointest.Work(m)
				b = m.Header
			}
			var raw bytes.Buffer
			if err := b.Serialize(&raw); err != nil {
				t.Fatal(err)
			}
			at := &model.Block{Height: model.HeightPk(height), Hash: model.Hash(b.BlockHash()), Header: raw.Bytes()}
			err := checker.CheckHeader(at, headersBefore(headers))
			if b.Bits == required {
				if err != nil {
					t.Fatalf("height %d, target %08x: %v", height, b.Bits, err)
				}
				if len(headers) == height {
					headers = append(headers, raw.Bytes())
				}
				continue
			}
			fails(t, err, "bad_block", block.FormatHash(at.Hash), "difficulty")
		}
	}
	if got := binary.LittleEndian.Uint32(headers[19][72:]); got != second || first == second {
		t.Errorf("the target of block 19 is %08x, expected %08x", got, second)
	}
}

func hashOf(raw []byte) [32]byte { return block.Header(raw).Hash() }
