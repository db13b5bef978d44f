package blockbook

import (
	"context"
	"encoding/binary"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// nodeTimeout is how long the description of the node is waited for.
const nodeTimeout = 3 * time.Second

// node returns the description of the node, which is empty without a node.
func (s *Server) node(ctx context.Context) (*model.NodeInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	info, err := s.chain.NodeInfo(ctx)
	if info == nil {
		info = &model.NodeInfo{}
	}
	return info, err
}

// systemInfo describes the server and its chain. node and failed are the results of [Server.node].
func (s *Server) systemInfo(v *wallet.View, host string, node *model.NodeInfo, failed error) (*systemInfo, error) {
	tip, err := v.Block(uint32(v.Tip.Height))
	if err != nil {
		return nil, err
	}
	size, err := s.chain.DatabaseSize()
	if err != nil {
		return nil, err
	}
	mempool := v.MempoolInfo()
	commit, built := build()
	a := &systemInfo{
		serverInfo{
			Coin: s.coin.name, Network: s.coin.shortcut, Host: host, Version: s.Version, GitCommit: commit, BuildTime: built, SyncMode: true,
			InSync: s.InSync(), BestHeight: uint32(tip.Height), LastBlockTime: time.Unix(tip.Time, 0).UTC().Format(time.RFC3339),
			InSyncMempool: mempool.State == "live", LastMempoolTime: s.chain.MempoolTime().UTC(), MempoolSize: mempool.Count,
			Decimals: decimals, DBSize: size, About: "Birthmark, with the API of Blockbook",
		},
		backendInfo{
			Chain: s.coin.chain, Blocks: uint32(tip.Height), Headers: node.Headers, BestBlockHash: block.FormatHash(tip.Hash),
			Difficulty: formatDifficulty(binary.LittleEndian.Uint32(tip.Header[72:])), SizeOnDisk: node.SizeOnDisk,
			Version: node.Version, Subversion: node.Subversion, ProtocolVersion: node.Protocol, TimeOffset: node.TimeOffset,
			Warnings: strings.Join(node.Warnings, " "),
		},
	}
	if failed != nil {
		a.Backend.Error = s.failed(failed, "status")
		a.Blockbook.InSync, a.Blockbook.InSyncMempool = false, false
	}
	return a, nil
}

// build returns the commit of the program and its time; "unknown" if the Go tool did not record them.
func build() (commit, built string) {
	commit, built = "unknown", "unknown" // as Blockbook without build flags
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.time":
				built = s.Value
			}
		}
	}
	return commit, built
}

// chainInfo answers the method getInfo.
func (s *Server) chainInfo(v *wallet.View, node *model.NodeInfo) (*chainInfo, error) {
	genesis, err := v.Header(0)
	if err != nil {
		return nil, err
	}
	return &chainInfo{
		Name: s.coin.name, Shortcut: s.coin.shortcut, Network: s.coin.shortcut, Decimals: decimals, Version: s.Version,
		BestHeight: uint32(v.Tip.Height), BestHash: block.FormatHash(v.Tip.Hash),
		Block0Hash: block.FormatHash(block.DoubleHash(genesis)), Testnet: s.coin.chain != "main",
		Backend: backend{node.Version, node.Subversion},
	}, nil
}

// estimate returns the node's fee rate for a number of blocks, in satoshi per 1,000 virtual bytes. The error is of kind
// [model.NotFound] (no_estimate) if the node has none.
func (s *Server) estimate(ctx context.Context, blocks int, conservative bool) (uint64, error) {
	mode := "ECONOMICAL"
	if conservative {
		mode = "CONSERVATIVE"
	}
	blocks = min(max(blocks, 1), maxTarget)
	rates, err := s.chain.Fees(ctx, []int{blocks}, mode)
	if err != nil {
		return 0, err
	}
	rate, ok := rates[blocks]
	if !ok {
		return 0, model.Errorf(model.NotFound, "no_estimate", "the node has no fee estimate for %d blocks", blocks)
	}
	return uint64(math.Ceil(rate)), nil
}

// maxTarget is the largest number of blocks for which nodes estimate fees.
const maxTarget = 1008

// formatBTC formats satoshi in BTC without trailing zeros.
func formatBTC(satoshi uint64) string {
	text := strconv.FormatUint(satoshi/1e8, 10)
	if rest := satoshi % 1e8; rest > 0 {
		digits := strconv.FormatUint(rest+1e8, 10)[1:]
		for digits[len(digits)-1] == '0' {
			digits = digits[:len(digits)-1]
		}
		text += "." + digits
	}
	return text
}
