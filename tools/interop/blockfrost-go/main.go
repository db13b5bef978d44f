// Command blockfrost-go walks over the blocks of a server of Blockfrost's API at URL from FIRST to LAST in steps, with the
// client of github.com/blockfrost. A method must return the answer of the server. At the end it submits
// TRANSACTION, in hex. It prints the number of calls by method, the faults, and the requests without an answer (501).
package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"reflect"
	"strconv"

	"github.com/blockfrost/blockfrost-go"
)

type walk struct {
	url    string
	client blockfrost.APIClient
	counts map[string]int
	faults []string

	unanswered []string // requests with the status 501
}

func main() {
	log.SetFlags(0)
	w := walk{url: os.Args[1], client: blockfrost.NewAPIClient(blockfrost.APIClientOptions{
		Server: os.Args[1], ProjectID: "key", Client: http.DefaultClient,
	}), counts: map[string]int{}}
	var limits [3]int
	for i := range limits {
		n, err := strconv.Atoi(os.Args[2+i])
		if err != nil {
			log.Fatal(err)
		}
		limits[i] = n
	}
	w.blocks(limits[0], limits[1], limits[2])
	w.node(os.Args[5])
	out, err := json.Marshal(map[string]any{"counts": w.counts, "faults": w.faults, "unanswered": w.unanswered})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out))
}

// fault adds a fault.
func (w *walk) fault(format string, a ...any) { w.faults = append(w.faults, fmt.Sprintf(format, a...)) }

// get returns the answer to a request; nil if it has none.
func (w *walk) get(path string) any {
	r, err := http.Get(w.url + path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		log.Fatal(err)
	}
	if r.StatusCode == http.StatusNotImplemented {
		w.unanswered = append(w.unanswered, path)
		return nil
	}
	if r.StatusCode != http.StatusOK {
		w.fault("%s: %d %.200s", path, r.StatusCode, body)
		return nil
	}
	return generic(body)
}

func generic(body []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		log.Fatalf("%v: %.300s", err, body)
	}
	return v
}

// call calls a method of the client.
func (w *walk) call(method string, args ...any) (any, error) {
	w.counts[method]++
	in := []reflect.Value{reflect.ValueOf(context.Background())}
	for _, a := range args {
		in = append(in, reflect.ValueOf(a))
	}
	out := reflect.ValueOf(w.client).MethodByName(method).Call(in)
	err, _ := out[1].Interface().(error)
	return out[0].Interface(), err
}

// same calls a method and compares its result with the answer to the request for a path, which it returns.
func (w *walk) same(path, method string, args ...any) any {
	want, unanswered := w.get(path), len(w.unanswered)
	got, err := w.call(method, args...)
	if want == nil && unanswered > 0 && w.unanswered[unanswered-1] == path && err != nil {
		return nil
	}
	if err != nil {
		w.fault("%s%v: %v", method, args, err)
		return want
	}
	body, err := json.Marshal(got)
	if err != nil {
		log.Fatal(err)
	}
	if at := differs(generic(body), want); at != "" {
		w.fault("%s%v: %s: %.300s, expected %.300v", method, args, at, body, want)
	}
	return want
}

// differs returns where a value of the client is not that of the server; empty: nowhere. The client has fewer fields than
// the server, and zero in place of null.
func differs(got, want any) string {
	switch g := got.(type) {
	case map[string]any:
		v, ok := want.(map[string]any)
		if !ok && want != nil {
			return "an object"
		}
		for name, value := range g {
			if _, ok := v[name]; !ok && want != nil {
				continue // a field that newer documents do not have
			}
			if at := differs(value, v[name]); at != "" {
				return name + "." + at
			}
		}
		return ""
	case []any:
		v, _ := want.([]any)
		if len(g) != len(v) {
			return fmt.Sprintf("%d and %d entries", len(g), len(v))
		}
		for i := range g {
			if at := differs(g[i], v[i]); at != "" {
				return fmt.Sprintf("%d.%s", i, at)
			}
		}
		return ""
	}
	if want == nil && (got == nil || got == "" || got == false || got == json.Number("0")) {
		return ""
	}
	if a, ok := got.(json.Number); ok {
		b, _ := want.(json.Number)
		x, _ := a.Float64()
		y, _ := b.Float64()
		if float32(x) == float32(y) { // some numbers of the client have 32 bits
			return ""
		}
	}
	if got != want {
		return fmt.Sprintf(" %v is not %v", got, want)
	}
	return ""
}

var page = blockfrost.APIQueryParams{Count: 100, Page: 1}

// each calls f for at most 20 entries of a list, spread over it.
func each[T any](list []T, f func(T)) {
	for i, v := range list {
		if i%(1+len(list)/20) == 0 {
			f(v)
		}
	}
}

// text returns a field of an object.
func text(v any, name string) string {
	o, _ := v.(map[string]any)
	s, _ := o[name].(string)
	return s
}

// list returns the entries of a list in an object, or of a list.
func list(v any, name string) []any {
	if o, ok := v.(map[string]any); ok {
		v = o[name]
	}
	all, _ := v.([]any)
	return all
}

// seen are values in the order in which they first occurred.
type seen struct {
	all  []string
	once map[string]bool
}

func (s *seen) add(v string) {
	if s.once == nil {
		s.once = map[string]bool{}
	}
	if v != "" && !s.once[v] {
		s.once[v], s.all = true, append(s.all, v)
	}
}

func (w *walk) blocks(first, last, step int) {
	var addresses, assets, datums, scripts seen
	w.same("/", "Info")
	w.same("/health", "Health")
	w.same("/genesis", "Genesis")
	w.same("/blocks/latest", "BlockLatest")
	w.same("/blocks/latest/txs", "BlockLatestTransactions", page)
	for height := first; height <= last; height += step {
		number := strconv.Itoa(height)
		block := w.same("/blocks/"+number, "Block", number)
		hash := text(block, "hash")
		w.same("/blocks/"+hash+"/next", "BlocksNext", hash)
		w.same("/blocks/"+hash+"/previous", "BlocksPrevious", hash)
		w.same("/blocks/"+hash+"/addresses", "BlocksAddresses", hash, page)
		if slot, err := strconv.Atoi(fmt.Sprint(block.(map[string]any)["slot"])); err == nil {
			w.same("/blocks/slot/"+strconv.Itoa(slot), "BlockBySlot", slot)
		}
		for _, tx := range list(w.same("/blocks/"+hash+"/txs", "BlockTransactions", hash, page), "") {
			w.transaction(tx.(string), &addresses, &assets, &datums, &scripts)
		}
	}
	each(addresses.all, w.address)
	each(assets.all, w.asset)
	each(datums.all, func(hash string) {
		w.same("/scripts/datum/"+hash, "ScriptDatum", hash)
		w.same("/scripts/datum/"+hash+"/cbor", "ScriptDatumCBOR", hash)
	})
	each(scripts.all, func(hash string) {
		w.same("/scripts/"+hash, "Script", hash)
		w.same("/scripts/"+hash+"/json", "ScriptJSON", hash)
		w.same("/scripts/"+hash+"/cbor", "ScriptCBOR", hash)
		w.same("/scripts/"+hash+"/redeemers", "ScriptRedeemers", hash, page)
	})
	each(list(w.same("/pools", "Pools", page), ""), func(id any) {
		pool := id.(string)
		w.same("/pools/"+pool+"/relays", "PoolRelays", pool)
		w.same("/pools/"+pool+"/metadata", "PoolMetadata", pool)
		w.same("/pools/"+pool+"/updates", "PoolUpdates", pool, page)
	})
	w.same("/pools/retired", "PoolsRetired", page)
	w.same("/pools/retiring", "PoolsRetiring", page)
	for _, l := range list(w.same("/metadata/txs/labels", "MetadataTxLabels", page), "") {
		label := text(l, "label")
		w.same("/metadata/txs/labels/"+label, "MetadataTxContentInJSON", label, page)
		w.same("/metadata/txs/labels/"+label+"/cbor", "MetadataTxContentInCBOR", label, page)
	}
}

func (w *walk) transaction(hash string, addresses, assets, datums, scripts *seen) {
	path := "/txs/" + hash
	w.same(path, "Transaction", hash)
	w.same(path+"/cbor", "TransactionCBOR", hash)
	w.same(path+"/metadata", "TransactionMetadata", hash)
	w.same(path+"/metadata/cbor", "TransactionMetadataInCBORs", hash)
	w.same(path+"/redeemers", "TransactionRedeemers", hash)
	w.same(path+"/required_signers", "TransactionRequiredSigners", hash)
	w.same(path+"/stakes", "TransactionStakeAddressCerts", hash)
	w.same(path+"/delegations", "TransactionDelegationCerts", hash)
	w.same(path+"/withdrawals", "TransactionWithdrawals", hash)
	w.same(path+"/mirs", "TransactionMIRs", hash)
	w.same(path+"/pool_updates", "TransactionPoolUpdates", hash)
	w.same(path+"/pool_retires", "TransactionPoolRetirementCerts", hash)
	utxos := w.same(path+"/utxos", "TransactionUTXOs", hash)
	for _, o := range append(list(utxos, "inputs"), list(utxos, "outputs")...) {
		addresses.add(text(o, "address"))
		if text(o, "inline_datum") != "" {
			datums.add(text(o, "data_hash"))
		}
		scripts.add(text(o, "reference_script_hash"))
		for _, a := range list(o, "amount")[1:] {
			assets.add(text(a, "unit"))
		}
	}
}

func (w *walk) address(address string) {
	path := "/addresses/" + address
	about := w.same(path, "Address", address)
	w.same(path+"/total", "AddressDetails", address)
	w.same(path+"/transactions", "AddressTransactions", address, page)
	utxos := w.same(path+"/utxos", "AddressUTXOs", address, page)
	for _, o := range list(utxos, "") {
		if amounts := list(o, "amount"); len(amounts) > 1 {
			unit := text(amounts[1], "unit")
			w.same(path+"/utxos/"+unit, "AddressUTXOsAsset", address, unit, page)
			break
		}
	}
	// The method reads ten pages at once, in any order.
	n := 0
	for r := range w.client.AddressTransactionsAll(context.Background(), address) {
		if r.Err != nil {
			w.fault("AddressTransactionsAll[%s]: %v", address, r.Err)
		}
		n += len(r.Res)
	}
	all := 0
	for p, more := 1, true; more; p++ {
		entries := list(w.get(path+"/transactions?page="+strconv.Itoa(p)), "")
		all, more = all+len(entries), len(entries) > 0
	}
	if n != all {
		w.fault("AddressTransactionsAll[%s]: %d entries, expected %d", address, n, all)
	}
	if stake := text(about, "stake_address"); stake != "" {
		path := "/accounts/" + stake
		w.same(path, "Account", stake)
		w.same(path+"/addresses", "AccountAssociatedAddresses", stake, page)
		w.same(path+"/addresses/assets", "AccountAssociatedAssets", stake, page)
		w.same(path+"/addresses/total", "AccountAddressesTotal", stake)
		w.same(path+"/transactions", "AccountTransactions", stake, page)
		w.same(path+"/delegations", "AccountDelegationHistory", stake, page)
		w.same(path+"/registrations", "AccountRegistrationHistory", stake, page)
		w.same(path+"/withdrawals", "AccountWithdrawalHistory", stake, page)
		w.same(path+"/mirs", "AccountMIRHistory", stake, page)
	}
}

func (w *walk) asset(unit string) {
	path := "/assets/" + unit
	w.same(path, "Asset", unit)
	w.same(path+"/history", "AssetHistory", unit, page)
	w.same(path+"/transactions", "AssetTransactions", unit, page)
	w.same(path+"/addresses", "AssetAddresses", unit, page)
	w.same("/assets/policy/"+unit[:56], "AssetsByPolicy", unit[:56], page)
}

// node compares what needs the node, and submits a transaction.
func (w *walk) node(digits string) {
	w.same("/epochs/latest/parameters", "LatestEpochParameters")
	raw, err := hex.DecodeString(digits)
	if err != nil {
		log.Fatal(err)
	}
	v, err := w.call("TransactionSubmit", raw)
	if err != nil {
		w.fault("TransactionSubmit: %v", err)
		return
	}
	hash := v.(string)
	w.same("/mempool/"+hash, "MempoolTx", hash)
	found := false
	for _, e := range list(w.same("/mempool", "Mempool", page), "") {
		found = found || text(e, "tx_hash") == hash
	}
	if !found {
		w.fault("%s was submitted and is not in the mempool", hash)
	}
	if _, err := w.call("TransactionSubmit", []byte{0x80}); err == nil {
		w.fault("a malformed transaction was accepted")
	}
}
