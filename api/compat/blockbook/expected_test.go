package blockbook_test

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// object is an expected JSON object.
type object = map[string]any

func amount[T int | int64 | uint64](v T) string { return strconv.FormatInt(int64(v), 10) }

// tx returns the expected answer for a transaction.
func (n *naive) tx(p place, light, spenders bool, own []string) object {
	raw := serialize(p.tx)
	weight := 3*p.tx.SerializeSizeStripped() + len(raw)
	a := object{"txid": p.tx.TxHash().String(), "blockHeight": p.height, "confirmations": 0, "vsize": (weight + 3) / 4}
	if p.height < 0 {
		a["blockTime"] = n.seen[p.tx.TxHash()]
	} else {
		a["blockHash"], a["confirmations"], a["blockTime"] = n.blocks[p.height].BlockHash().String(), n.tip()-p.height+1, n.time(p.height)
	}
	if !light {
		a["version"], a["size"], a["hex"] = p.tx.Version, len(raw), hex.EncodeToString(raw)
		if p.tx.LockTime > 0 {
			a["lockTime"] = p.tx.LockTime
		}
	}
	coinbase := p.position == 0 && p.height >= 0
	in, out := int64(0), int64(0)
	var vins, vouts []object
	for i, txIn := range p.tx.TxIn {
		v := object{"n": i, "isAddress": false}
		script := hex.EncodeToString(txIn.SignatureScript)
		if prevout := n.prevout(txIn); !coinbase {
			in += prevout.Value
			v["txid"], v["value"] = txIn.PreviousOutPoint.Hash.String(), amount(prevout.Value)
			if txIn.PreviousOutPoint.Index > 0 {
				v["vout"] = txIn.PreviousOutPoint.Index
			}
			mark(v, prevout.PkScript, own)
			if len(v["addresses"].([]string)) == 0 {
				delete(v, "addresses")
			}
			if script != "" && !light {
				v["hex"] = script
			}
		} else if light {
			v["value"] = "0"
		} else {
			v["coinbase"] = script
		}
		if !light {
			v["sequence"] = txIn.Sequence
		}
		if p.height < 0 && txIn.Sequence < 0xfffffffe {
			a["rbf"] = true
		}
		vins = append(vins, v)
	}
	for i, o := range p.tx.TxOut {
		v := object{"n": i, "value": amount(o.Value)}
		mark(v, o.PkScript, own)
		if script := hex.EncodeToString(o.PkScript); !light && script != "" {
			v["hex"] = script
		}
		if by, ok := n.spent[output{p, i}.point()]; ok && by.height >= 0 && p.height >= 0 {
			v["spent"] = true
			if spenders {
				v["spentTxId"], v["spentHeight"] = by.tx.TxHash().String(), by.height
				input := slices.IndexFunc(by.tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint == output{p, i}.point() })
				if input > 0 {
					v["spentIndex"] = input
				}
			}
		}
		out += o.Value
		vouts = append(vouts, v)
	}
	a["vin"], a["vout"], a["value"], a["valueIn"], a["fees"] = vins, vouts, amount(out), amount(in), amount(max(in-out, 0))
	return a
}

// mark sets the addresses of an input or output.
func mark(v object, script []byte, own []string) {
	v["addresses"], v["isAddress"] = described(script), address(script) != ""
	if a := address(script); a != "" && slices.Contains(own, a) {
		v["isOwn"] = true
	}
}

// question is a request about scripts.
type question struct {
	name           string
	members        []expectedMember
	isAccount      bool
	details        string
	tokens         string
	page, pageSize int // page from 1
	from, to       int
	filter         string
}

type expectedMember struct {
	script []byte
	path   string
}

func (q *question) scripts() (all [][]byte) {
	for _, m := range q.members {
		all = append(all, m.script)
	}
	return all
}

func (q *question) own() (all []string) {
	for _, m := range q.members {
		all = append(all, address(m.script))
	}
	return all
}

var levels = []string{"basic", "tokens", "tokenBalances", "txids", "txslight", "txs"}

// info returns the expected answer to a request.
func (n *naive) info(q *question) object {
	level := slices.Index(levels, q.details)
	var confirmed, pending []entry
	var received, sent, in, out uint64
	for _, e := range n.history(q.scripts()...) {
		if e.height < 0 {
			pending, in, out = append(pending, e), in+e.received, out+e.sent
		} else {
			confirmed, received, sent = append(confirmed, e), received+e.received, sent+e.sent
		}
	}
	if q.to > 0 {
		pending, in, out = nil, 0, 0
	}
	a := object{
		"address": q.name, "balance": amount(received - sent), "totalReceived": amount(received), "totalSent": amount(sent),
		"unconfirmedBalance": amount(int64(in - out)), "unconfirmedTxs": len(pending), "txs": len(confirmed),
	}
	if !q.isAccount && in > 0 {
		a["unconfirmedReceiving"] = amount(in)
	}
	if !q.isAccount && out > 0 {
		a["unconfirmedSending"] = amount(out)
	}
	if q.isAccount {
		n.addTokens(a, q, level)
	}
	if level < 3 {
		return a
	}
	keep := func(e entry) bool {
		return q.filter == "inputs" && e.sent > 0 || q.filter == "outputs" && e.received > 0 || q.filter == ""
	}
	var list []place
	slices.Reverse(confirmed)
	matching := confirmed[:0:0]
	for _, e := range confirmed {
		if keep(e) && e.height >= q.from && (q.to == 0 || e.height <= q.to) {
			matching = append(matching, e)
		}
	}
	pages := max(1, (len(matching)+q.pageSize-1)/q.pageSize)
	filtered := q.from > 0 || q.to > 0 || q.filter != ""
	page := min(max(q.page, 1), pages)
	a["page"], a["totalPages"], a["itemsOnPage"] = page, pages, q.pageSize
	if seenByFilter := min(len(matching), max(q.page, 1)*q.pageSize); filtered && (q.isAccount && len(matching) >= q.pageSize || !q.isAccount && seenByFilter >= q.pageSize) {
		a["totalPages"] = -1
	}
	if q.page <= 1 && q.from == 0 {
		slices.Reverse(pending)
		if q.isAccount {
			slices.SortStableFunc(pending, func(a, b entry) int { return int(n.seen[b.tx.TxHash()] - n.seen[a.tx.TxHash()]) })
		}
		for _, e := range pending {
			if keep(e) && len(list) < q.pageSize {
				list = append(list, e.place)
			}
		}
	}
	for _, e := range matching[min(len(matching), (page-1)*q.pageSize):min(len(matching), page*q.pageSize)] {
		list = append(list, e.place)
	}
	var txs []object
	var ids []string
	for _, p := range list {
		txs, ids = append(txs, n.tx(p, level == 4, false, q.own())), append(ids, p.tx.TxHash().String())
	}
	switch {
	case len(list) == 0:
	case level == 3:
		a["txids"] = ids
	default:
		a["transactions"] = txs
	}
	return a
}

// addTokens adds the fields of accounts.
func (n *naive) addTokens(a object, q *question, level int) {
	var tokens []object
	used, count := 0, 0
	for _, m := range q.members {
		var received, sent uint64
		txs := 0
		for _, e := range n.history(m.script) {
			if e.height >= 0 {
				received, sent, txs = received+e.received, sent+e.sent, txs+1
			}
		}
		count += txs
		if txs > 0 {
			used++
		}
		if q.tokens == "nonzero" && received == sent || q.tokens == "used" && txs == 0 {
			continue
		}
		t := object{"type": "XPUBAddress", "standard": "XPUBAddress", "name": address(m.script), "path": m.path, "transfers": txs, "decimals": 8}
		if level >= 2 && txs > 0 {
			t["balance"], t["totalReceived"], t["totalSent"] = amount(received-sent), amount(received), amount(sent)
		}
		tokens = append(tokens, t)
	}
	if level < 3 {
		a["txs"] = count
	}
	if count > 0 {
		a["addrTxCount"], a["usedTokens"] = count, used
	}
	if level > 0 && len(tokens) > 0 {
		a["tokens"] = tokens
	}
}

// utxos returns the expected unspent outputs, in any order within a block.
func (n *naive) utxos(q *question, confirmedOnly bool) []object {
	list := []object{}
	for i := len(n.all) - 1; i >= 0; i-- {
		p := n.all[i]
		if p.height < 0 && confirmedOnly {
			continue
		}
		for index, o := range p.tx.TxOut {
			u := output{p, index}
			member := slices.IndexFunc(q.members, func(m expectedMember) bool { return string(m.script) == string(o.PkScript) })
			by, spent := n.spent[u.point()]
			if member < 0 || !u.counts() || spent && (by.height >= 0 || !confirmedOnly) {
				continue
			}
			a := object{"txid": p.tx.TxHash().String(), "vout": index, "value": amount(o.Value), "confirmations": 0}
			if q.isAccount {
				a["address"], a["path"] = address(o.PkScript), q.members[member].path
			}
			if p.height > 0 {
				a["height"], a["confirmations"] = p.height, n.tip()-p.height+1
				if p.position == 0 && n.tip()-p.height+1 < 100 {
					a["coinbase"] = true
				}
			} else if p.tx.LockTime > 0 {
				a["lockTime"] = p.tx.LockTime
			}
			list = append(list, a)
		}
	}
	return list
}

// balances returns the expected balance history.
func (n *naive) balances(scripts [][]byte, from, to, group int64) []object {
	list := []object{}
	var last int64
	var received, sent, self uint64
	txs := 0
	flush := func() {
		if txs > 0 {
			list = append(list, object{"time": last, "txs": txs, "received": amount(received), "sent": amount(sent), "sentToSelf": amount(self)})
		}
		received, sent, self, txs = 0, 0, 0, 0
	}
	for _, e := range n.history(scripts...) {
		if e.height < 0 || n.time(e.height) < from || to > 0 && n.time(e.height) >= to {
			continue
		}
		if start := n.time(e.height) / group * group; start != last {
			flush()
			last = start
		}
		received, sent, txs = received+e.received, sent+e.sent, txs+1
		if e.sent > 0 {
			self += e.received
		}
	}
	flush()
	return list
}

// block returns the expected answer for a block.
func (n *naive) block(height, page, size int) object {
	b := n.blocks[height]
	pages := (len(b.Transactions) + size - 1) / size
	page = min(max(page, 1), pages)
	h := b.Header
	a := object{
		"page": page, "totalPages": pages, "itemsOnPage": size, "hash": b.BlockHash().String(), "height": height,
		"confirmations": n.tip() - height + 1, "size": btcutil.NewBlock(b).MsgBlock().SerializeSize(), "time": h.Timestamp.Unix(),
		"version": h.Version, "merkleRoot": h.MerkleRoot.String(), "nonce": strconv.Itoa(int(h.Nonce)),
		"bits": strconv.FormatUint(uint64(h.Bits), 16), "difficulty": "4.656542373906925e-10", "txCount": len(b.Transactions),
	}
	if height > 0 {
		a["previousBlockHash"] = h.PrevBlock.String()
	}
	if height < n.tip() {
		a["nextBlockHash"] = n.blocks[height+1].BlockHash().String()
	}
	var txs []object
	for i := (page - 1) * size; i < min(page*size, len(b.Transactions)); i++ {
		txs = append(txs, n.tx(place{b.Transactions[i], height, i}, true, false, nil))
	}
	a["txs"] = txs
	return a
}

// fees returns the expected fee statistics of a block.
func (n *naive) fees(height int) object {
	var rates []int64
	total, sum := int64(0), int64(0)
	for _, tx := range n.blocks[height].Transactions[1:] {
		fee := int64(0)
		for _, in := range tx.TxIn {
			fee += n.prevout(in).Value
		}
		for _, o := range tx.TxOut {
			fee -= o.Value
		}
		vsize := (blockchain.GetTransactionWeight(btcutil.NewTx(tx)) + 3) / 4
		rate := int64(float64(fee) / float64(vsize) * 1000)
		total, sum, rates = total+fee, sum+rate, append(rates, rate)
	}
	slices.Sort(rates)
	deciles := make([]int64, 11)
	a := object{"txCount": len(rates), "totalFeesSat": amount(total), "averageFeePerKb": 0, "decilesFeePerKb": deciles}
	for k := range deciles {
		if len(rates) > 0 {
			at := int(math.Floor(0.5+float64(k)*float64(len(rates)+1)/10)) - 1
			deciles[k], a["averageFeePerKb"] = rates[min(max(at, 0), len(rates)-1)], sum/int64(len(rates))
		}
	}
	return a
}
