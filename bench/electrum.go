package bench

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"birthmark/core/query"
)

// ElectrumMix is the default mix of requests of the Electrum protocol.
var ElectrumMix = map[string]int{"electrum_balance": 50, "electrum_history": 50}

const electrumPrefix = "electrum_"

// ElectrumKinds returns the kinds of requests of the Electrum protocol: about ordinary scripts, about scripts with some
// 1,000 transactions (long) and about the script with most transactions of the sample (hot).
func ElectrumKinds() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(loadPaths)), func(kind string) bool { return !strings.HasPrefix(kind, electrumPrefix) })
}

// scriptIndex is the index of output scripts. Its values are written as the protocol has them.
const scriptIndex = "script_hash"

func placeLong(p *sample) []string { return p.long }
func placeHot(p *sample) []string  { return p.hot }

// aboutScript returns a function for requests of a method about a script.
func aboutScript(method string, of func(p *sample) []string) func(p *sample, i int) string {
	return func(p *sample, i int) string {
		return fmt.Sprintf(`{"id":0,"method":"blockchain.scripthash.%s","params":[%q]}`, method, of(p)[i])
	}
}

// Numbers of transactions of the scripts in the kinds long.
const (
	leastLong = 500
	mostLong  = 2000
)

// addFrequent adds a script with many transactions to the sample.
func (d *drawer) addFrequent(p *sample, script string) error {
	balance, err := answer[query.BalanceAnswer](d, "/balance/"+scriptIndex+"/"+url.PathEscape(script))
	if err != nil {
		return err
	}
	if n := int(balance.TxCount); n >= leastLong && n <= mostLong && !slices.Contains(p.long, script) {
		p.long = append(p.long, script)
	} else if n > p.hottest {
		p.hot, p.hottest = []string{script}, n
	}
	return nil
}
