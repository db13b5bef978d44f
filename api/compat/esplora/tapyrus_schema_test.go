package esplora_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/expr-lang/expr"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/tapyrus"
	"birthmark/internal/testseed"
)

// Each kind of row that esplora-tapyrus stores has a route with the answer that the row serves.
func TestEveryRowOfTapyrusHasARoute(t *testing.T) {
	coin, _ := coingen.Find("tapyrus")
	made := coingen.New(coin, coingen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 10})
	for range 60 {
		made.Next()
	}
	w := newColoredWorld(t)
	w.serve(t)
	w.syncTo(t, made.File())
	blocks := made.Blocks()
	known := newColorModel(t, blocks).sample(t, blocks)
	text, err := os.ReadFile(filepath.Join("testdata", "tapyrus-schema.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	cell := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|`]+ \\| `([^`]+)` \\| `([^`]+)` \\|$")
	for _, m := range cell.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = true
		route := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(m[2], func(name string) string {
			return fmt.Sprint(known[strings.Trim(name, "{}")])
		})
		a := w.ask(t, route, nil)
		if a.status != 200 {
			t.Errorf("%s: %s: %d %s", m[1], route, a.status, a.body)
			continue
		}
		known["answer"] = a.body
		if a.media == jsonType {
			var document any
			if err := json.Unmarshal([]byte(a.body), &document); err != nil {
				t.Fatal(err)
			}
			known["answer"] = document
		}
		if ok, err := expr.Eval(m[3], known); ok != true || err != nil {
			t.Errorf("%s: %s: expected that %s (%v): %.1000s", m[1], route, m[3], err, a.body)
		}
	}
	if lines := strings.Count(string(text), "\n| `"); len(rows) != 19 || lines != len(cell.FindAllString(string(text), -1)) {
		t.Errorf("%d rows of 19, of %d lines: %v", len(rows), lines, rows)
	}
}

// sample returns the expected numbers of a spent colored output, of its script, and of its color, which was issued,
// transferred and burned.
func (n *colorModel) sample(t *testing.T, blocks [][]byte) map[string]any {
	t.Helper()
	sums, txs := n.colors(true)
	var colors []string
	for color, s := range sums {
		if s.Issued > 0 && s.Transferred > 0 && s.Burned > 0 && len(txs[color]) <= 25 {
			colors = append(colors, color)
		}
	}
	if len(colors) == 0 {
		t.Fatal("no color was issued, transferred and burned")
	}
	color := slices.Min(colors)
	s, first, last := sums[color], txs[color][0], txs[color][len(txs[color])-1]
	known := map[string]any{
		"color": color, "last": float64(last.height), "uses": float64(s.Txs), "issuer": first.text(),
		"issued": float64(s.Issued), "issued_sum": float64(s.IssuedSum), "transferred": float64(s.Transferred),
		"transferred_sum": float64(s.TransferredSum), "burned": float64(s.Burned), "burned_sum": float64(s.BurnedSum),
		"unknown": strings.Repeat("ab", 32), "tip": displayed(tapyrus.Spec.Format.HashOf(blocks[len(blocks)-1])), "prefix": "m",
	}
	all := slices.Collect(maps.Keys(sums))
	height := func(c string) int { return txs[c][len(txs[c])-1].height }
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(height(b)-height(a), strings.Compare(b, a)) })
	var heights []int
	known["before"] = "first" // of all pages
	for i, c := range all {
		if heights = append(heights, height(c)); i > 0 && c == color {
			known["before"] = all[i-1]
		}
	}
	known["heights"] = floats(heights[:min(25, len(heights))])
	for _, tx := range n.txs {
		for i, o := range tx.msg.TxOut {
			spender := n.spends[wire.OutPoint{Hash: [32]byte(tx.id), Index: uint32(i)}]
			c, lock := splitColor(o.PkScript)
			if spender == nil || c == "" {
				continue
			}
			totals, unspent, count := n.ofScript(lock)
			if count > 25 {
				continue // all transactions of the script are on the first page
			}
			header, all := parseBlock(t, blocks[tx.height])
			var ids []any
			for _, other := range all {
				ids = append(ids, displayed(malfixID(other)))
			}
			known["block"], known["header"], known["txids"] = tx.block, hex.EncodeToString(header), ids
			known["size"], known["height"] = float64(len(blocks[tx.height])), float64(tx.height)
			known["tx"], known["raw"], known["vout"] = tx.text(), hex.EncodeToString(raw(tx.msg)), i
			known["script"], known["value"] = hex.EncodeToString(o.PkScript), float64(o.Value)
			known["scripthash"], known["spender"] = keyOf(lock), spender.text()
			known["totals"], known["unspent"] = totals, unspent
			return known
		}
	}
	t.Fatal("no colored output of a short history is spent")
	return nil
}

func floats(all []int) []any {
	list := make([]any, len(all))
	for i, n := range all {
		list[i] = float64(n)
	}
	return list
}

// ofScript returns the totals of a script by color, its unspent outputs, and the number of its transactions.
func (n *colorModel) ofScript(lock []byte) (totals map[string]any, unspent []any, count int) {
	stats := map[string]*coloredStatsJSON{}
	unspent = []any{}
	for _, tx := range n.txs {
		seen := map[string]bool{}
		of := func(o *wire.TxOut) *coloredStatsJSON {
			color, own := heldColor(o)
			if color == "" {
				color = strings.Repeat("00", 33)
			}
			if string(own) != string(lock) {
				return nil
			}
			if stats[color] == nil {
				stats[color] = new(coloredStatsJSON)
			}
			if !seen[color] {
				seen[color] = true
				stats[color].Txs++
			}
			return stats[color]
		}
		for i, o := range tx.msg.TxOut {
			if s := of(o); s != nil {
				s.Funded++
				s.FundedSum += uint64(o.Value)
				if n.spends[wire.OutPoint{Hash: [32]byte(tx.id), Index: uint32(i)}] == nil {
					color, _ := heldColor(o)
					if color == "" {
						color = strings.Repeat("00", 33)
					}
					unspent = append(unspent, fmt.Sprintf("%s:%d %s", tx.text(), i, color))
				}
			}
		}
		for _, in := range tx.msg.TxIn {
			if o := n.spent(in); o != nil {
				if s := of(o); s != nil {
					s.Spent++
					s.SpentSum += uint64(o.Value)
				}
			}
		}
		if len(seen) > 0 {
			count++
		}
	}
	totals = map[string]any{}
	for color, s := range stats {
		totals[color] = map[string]any{
			"funded_txo_count": float64(s.Funded), "funded_txo_sum": float64(s.FundedSum), "spent_txo_count": float64(s.Spent),
			"spent_txo_sum": float64(s.SpentSum), "tx_count": float64(s.Txs),
		}
	}
	return totals, unspent, count
}
