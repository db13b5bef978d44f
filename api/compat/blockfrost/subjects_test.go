package blockfrost_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/ledger/common"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// theirs returns a transaction as gouroboros decodes it.
func (tx *naiveTx) theirs(t *testing.T) gouroboros.Transaction {
	t.Helper()
	era := uint(tx.block.Header[0])
	read, err := gouroboros.NewTransactionFromCbor(era-ledger.EraShelley+gouroboros.TxTypeShelley, tx.Raw)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// lists are the entries of lists by the path of their endpoint.
type lists map[string][]any

func (l lists) add(path string, tx *naiveTx, more object) {
	e := object{"tx_hash": tx.Hash.String()}
	for name, value := range more {
		e[name] = value
	}
	l[path] = append(l[path], e)
}

// naivePool is the state of a pool after some certificates.
type naivePool struct {
	id      string
	retires uint64 // 0: it does not
	place   int    // of its last certificate
}

// subjects compares the lists by account, pool and script with the certificates, withdrawals and redeemers of all blocks, as
// gouroboros reads them.
func (w *world) subjects(t *testing.T) {
	rng := testseed.Rand(t)
	found, pools, scripts := lists{}, []*naivePool{}, [][]string{}
	place := 0
	for _, b := range w.naive.blocks {
		for _, tx := range b.txs {
			if !tx.valid() || b.Header[0] <= ledger.EraByron {
				continue
			}
			at := object{"tx_slot": b.header.Slot, "block_time": b.Time, "block_height": b.Height}
			with := func(more object) object {
				for name, value := range at {
					more[name] = value
				}
				return more
			}
			theirs := tx.theirs(t)
			scripts = append(scripts, scriptsOf(theirs))
			for account, amount := range theirs.Withdrawals() {
				found.add("/accounts/"+account.String()+"/withdrawals", tx, with(object{"amount": amount.String()}))
			}
			var updates []any
			stake := func(c common.Credential) string {
				return "/accounts/" + address.FormatStakeCredential(address.Preview, append([]byte{byte(c.CredType)}, c.Credential.Bytes()...))
			}
			for i, c := range theirs.Certificates() {
				place++
				switch c := c.(type) {
				case *common.StakeRegistrationCertificate:
					found.add(stake(c.StakeCredential)+"/registrations", tx, with(object{"action": "registered", "deposit": nil}))
				case *common.StakeDeregistrationCertificate:
					found.add(stake(c.StakeCredential)+"/registrations", tx, with(object{"action": "deregistered", "deposit": nil}))
				case *common.StakeDelegationCertificate:
					found.add(stake(*c.StakeCredential)+"/delegations", tx, with(object{
						"active_epoch": *b.header.Epoch + 2, "amount": lovelaceOf(tx.created).String(), "pool_id": address.FormatPoolHash(c.PoolKeyHash[:]),
					}))
				case *common.PoolRegistrationCertificate:
					id := address.FormatPoolHash(c.Operator[:])
					p := slices.IndexFunc(pools, func(p *naivePool) bool { return p.id == id })
					active := *b.header.Epoch + 3
					if p < 0 {
						pools, p = append(pools, &naivePool{id: id}), len(pools)
						active--
					} else if r := pools[p].retires; r > 0 && r <= *b.header.Epoch {
						active--
					}
					pools[p].retires, pools[p].place = 0, place
					updates = append(updates, poolUpdate(i, id, active, tx.d.Certificates[i].RewardAddress, c))
					found.add("/pools/"+id+"/updates", tx, object{"cert_index": i, "action": "registered"})
				case *common.PoolRetirementCertificate:
					id := address.FormatPoolHash(c.PoolKeyHash[:])
					found.add("/pools/"+id+"/updates", tx, object{"cert_index": i, "action": "deregistered"})
					if p := slices.IndexFunc(pools, func(p *naivePool) bool { return p.id == id }); p >= 0 {
						pools[p].retires, pools[p].place = c.Epoch, place
					}
				}
			}
			if len(updates) > 0 {
				w.same(t, "/txs/"+tx.Hash.String()+"/pool_updates", updates)
			}
			if len(tx.d.Redeemers) > 0 {
				for _, r := range w.get(t, "/txs/"+tx.Hash.String()+"/redeemers").([]any) {
					e := r.(object)
					script := e["script_hash"].(string)
					delete(e, "script_hash")
					if a := w.get(t, "/scripts/"+script).(object); a["script_hash"] != script {
						t.Errorf("script %s: %v", script, a)
					}
					found.add("/scripts/"+script+"/redeemers", tx, e)
				}
			}
		}
	}
	w.poolLists(t, pools)
	w.scripts(t, scripts)
	counts := map[string]int{}
	var paths []string
	for path := range found {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for i, path := range paths {
		kind := path[strings.LastIndex(path, "/"):]
		if counts[kind]++; len(found[path]) > 3 || counts[kind] < 30 || i%10 == 0 {
			w.pages(t, rng, path, found[path])
		}
	}
	for _, kind := range []string{"/withdrawals", "/registrations", "/delegations", "/updates", "/redeemers"} {
		if counts[kind] == 0 && testrun.Amount(1, 0) == 1 {
			t.Errorf("no list of %s", kind)
		}
	}
	t.Log(counts)
}

// poolLists compares the lists of pools with the state at the tip.
func (w *world) poolLists(t *testing.T, pools []*naivePool) {
	t.Helper()
	epoch := *w.naive.tip().header.Epoch
	ids, retired, retiring := []any{}, []*naivePool{}, []*naivePool{}
	for _, p := range pools {
		if p.retires == 0 || p.retires > epoch {
			ids = append(ids, p.id)
		}
		if p.retires > epoch {
			retiring = append(retiring, p)
		} else if p.retires > 0 {
			retired = append(retired, p)
		}
	}
	w.same(t, "/pools", ids[:min(len(ids), 100)])
	for name, list := range map[string][]*naivePool{"retired": retired, "retiring": retiring} {
		slices.SortFunc(list, func(a, b *naivePool) int {
			if a.retires != b.retires {
				return int(a.retires) - int(b.retires)
			}
			return a.place - b.place
		})
		w.same(t, "/pools/"+name, listOf(list[:min(len(list), 100)], func(p *naivePool) any { return object{"pool_id": p.id, "epoch": p.retires} }))
	}
	t.Logf("%d pools, %d retired, %d retiring", len(ids), len(retired), len(retiring))
}

// poolUpdate returns a certificate as the API does. gouroboros cuts the reward account.
func poolUpdate(i int, id string, active uint64, reward string, c *common.PoolRegistrationCertificate) object {
	owners, relays := []any{}, []any{}
	for _, o := range c.PoolOwners {
		owners = append(owners, address.FormatStakeCredential(address.Preview, append([]byte{0}, o[:]...)))
	}
	for _, r := range c.Relays {
		e := object{"ipv4": nil, "ipv6": nil, "dns": nil, "dns_srv": nil, "port": 0}
		if r.Port != nil {
			e["port"] = *r.Port
		}
		if r.Ipv4 != nil {
			e["ipv4"] = r.Ipv4.String()
		}
		if r.Ipv6 != nil { // four words, each with its lowest byte first
			raw := make(net.IP, 0, 16)
			for i := 0; i < 16; i += 4 {
				raw = binary.BigEndian.AppendUint32(raw, binary.LittleEndian.Uint32((*r.Ipv6)[i:]))
			}
			e["ipv6"] = raw.String()
		}
		if r.Hostname != nil && r.Type == common.PoolRelayTypeMultiHostName {
			e["dns_srv"] = *r.Hostname
		} else if r.Hostname != nil {
			e["dns"] = *r.Hostname
		}
		relays = append(relays, e)
	}
	metadata := object{"url": nil, "hash": nil, "ticker": nil, "name": nil, "description": nil, "homepage": nil}
	if m := c.PoolMetadata; m != nil {
		metadata["url"], metadata["hash"] = m.Url, hex.EncodeToString(m.Hash[:])
	}
	margin, _ := c.Margin.Float64()
	return object{
		"cert_index": i, "pool_id": id, "vrf_key": hex.EncodeToString(c.VrfKeyHash[:]), "pledge": fmt.Sprint(c.Pledge), "margin_cost": margin,
		"fixed_cost": fmt.Sprint(c.Cost), "reward_account": reward, "owners": owners, "metadata": metadata,
		"relays": relays, "active_epoch": active,
	}
}

// scriptsOf returns the hashes of the scripts in the witnesses and in the outputs of a transaction, sorted.
func scriptsOf(tx gouroboros.Transaction) (hashes []string) {
	add := func(s common.Script) { hashes = append(hashes, s.Hash().String()) }
	if w := tx.Witnesses(); w != nil {
		for _, s := range w.NativeScripts() {
			add(&s)
		}
		for _, s := range w.PlutusV1Scripts() {
			add(&s)
		}
		for _, s := range w.PlutusV2Scripts() {
			add(&s)
		}
		for _, s := range w.PlutusV3Scripts() {
			add(&s)
		}
	}
	for _, o := range tx.Outputs() {
		if s := o.ScriptRef(); s != nil {
			add(s)
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// scripts compares the list of all scripts with the scripts of all transactions. If several occur first in one transaction,
// their order is not determined. Each script is found.
func (w *world) scripts(t *testing.T, all [][]string) {
	t.Helper()
	known, want := map[string]bool{}, []string{}
	var got []string
	for page := 1; len(got) == 100*(page-1); page++ {
		for _, e := range w.get(t, fmt.Sprintf("/scripts?page=%d", page)).([]any) {
			got = append(got, e.(object)["script_hash"].(string))
		}
	}
	for _, hashes := range all {
		hashes = slices.DeleteFunc(hashes, func(h string) bool { return known[h] })
		for _, h := range hashes {
			known[h] = true
		}
		if next := len(want) + len(hashes); next <= len(got) {
			slices.Sort(got[len(want):next])
		}
		want = append(want, hashes...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d scripts, expected %d: %s", len(got), len(want), difference("scripts", generic(t, got), generic(t, want)))
	}
	for i, h := range got {
		if i%(1+len(got)/50) == 0 {
			if s := w.get(t, "/scripts/"+h).(object); s["script_hash"] != h {
				t.Errorf("script %s: %v", h, s)
			}
		}
	}
	t.Logf("%d scripts", len(got))
}
