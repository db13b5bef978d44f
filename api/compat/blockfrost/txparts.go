package blockfrost

import (
	"cmp"
	"encoding/hex"
	"slices"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

func txMetadata(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	type entry struct {
		Label string `json:"label"`
		Value any    `json:"json_metadata"`
	}
	all := []entry{}
	labels, _ := contents.Labels(d.Auxiliary)
	for _, label := range labels {
		text := exchange.Decimal(label)
		all = append(all, entry{text, d.Details.Metadata[text]})
	}
	q.Answer = all
	return nil
}

func txMetadataCBOR(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	type entry struct {
		Label    string `json:"label"`
		Prefixed string `json:"cbor_metadata"`
		Metadata string `json:"metadata"`
	}
	all := []entry{}
	labels, items := contents.Labels(d.Auxiliary)
	for _, label := range labels {
		text := hex.EncodeToString(contents.Labelled(label, items[label]))
		all = append(all, entry{exchange.Decimal(label), `\x` + text, text})
	}
	q.Answer = all
	return nil
}

func txRedeemers(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	q.Answer, err = q.redeemers(d)
	return err
}

// redeemers returns the redeemers of a transaction by index.
func (q *request) redeemers(d *exchange.Decoded) ([]contents.Redeemer, error) {
	all := []contents.Redeemer{}
	redeemers := d.Witnessed().Redeemers
	if len(redeemers) > 0 && q.Network == nil {
		return nil, exchange.NotImplemented("the fees of redeemers need the prices of their units, which this server has for public networks only")
	}
	spent, err := q.spentAddresses(d, redeemers)
	if err != nil {
		return nil, err
	}
	for i := range redeemers {
		r := &redeemers[i]
		all = append(all, contents.NewRedeemer(r, d.Parts.ScriptOf(r, func(i uint64) []byte { return spent[i] })))
	}
	slices.SortStableFunc(all, func(a, b contents.Redeemer) int { return cmp.Compare(a.TxIndex, b.TxIndex) })
	return all, nil
}

// spentAddresses returns the addresses of the inputs that redeemers are for, by position.
func (q *request) spentAddresses(d *exchange.Decoded, redeemers []ledger.Redeemer) (map[uint64][]byte, error) {
	spent := map[uint64][]byte{}
	var in []model.Input
	var at []uint64
	for i := range redeemers {
		if r := &redeemers[i]; r.Purpose == ledger.PurposeSpend && r.Index < uint64(len(d.Parts.Inputs)) {
			in, at = append(in, d.Parts.Inputs[r.Index]), append(at, r.Index)
		}
	}
	found, err := q.Q.Prevouts(in)
	if err != nil {
		return nil, err
	}
	var pks []model.UtxoPk
	n := 0
	for i, p := range found {
		if p != nil { // nil: an input of a failed transaction that names no output
			pks, at[n] = append(pks, p.Pk), at[i]
			n++
		}
	}
	owners, err := q.Owners(pks)
	for i, o := range owners {
		spent[at[i]] = o.Raw
	}
	return spent, err
}

// txSigners answers the required signers, since Dijkstra the guards. cardano-db-sync, which Blockfrost reads, has no signers
// of Dijkstra yet (its Era/Shelley/Generic/Tx/Dijkstra.hs), so Blockfrost's answer about guards is unknown.
func txSigners(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	type signer struct {
		WitnessHash string `json:"witness_hash"`
	}
	all := []signer{}
	for _, hash := range d.Details.RequiredSigners {
		all = append(all, signer{hash})
	}
	q.Answer = all
	return nil
}

func txWithdrawals(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	all := []model.Withdrawal{}
	q.Answer = append(all, d.Details.Withdrawals...)
	return nil
}

// countCertificates sets the counts of certificates. In place of certificates that move rewards, Blockfrost counts the
// pots that pay, at most two (its src/sql/txs/txs_hash.sql).
func (q *request) countCertificates(d *exchange.Decoded, t *txContents) {
	pots := map[string]bool{}
	for i, c := range d.Details.Certificates {
		if slices.Contains(contents.Registers, c.Type) || slices.Contains(contents.Deregisters, c.Type) {
			t.StakeCertCount++
		}
		if slices.Contains(contents.Delegates, c.Type) {
			t.DelegationCount++
		}
		switch c.Type {
		case contents.RegistersPool:
			t.PoolUpdateCount++
		case contents.RetiresPool:
			t.PoolRetireCount++
		}
		for _, r := range q.mirsOf(d, i) {
			pots[r.Pot] = true
		}
	}
	t.MIRCertCount = len(pots)
}

func txStakes(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	type stake struct {
		CertIndex    int    `json:"cert_index"`
		Address      string `json:"address"`
		Registration bool   `json:"registration"`
	}
	all := []stake{}
	for i, c := range d.Details.Certificates {
		if in := slices.Contains(contents.Registers, c.Type); in || slices.Contains(contents.Deregisters, c.Type) {
			all = append(all, stake{i, c.StakeAddress, in})
		}
	}
	q.Answer = all
	return nil
}

// delegationDelay is the number of epochs after which a delegation is active.
const delegationDelay = 2

func txDelegations(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	epoch, err := q.EpochOf(d.Pk)
	if err != nil {
		return err
	}
	type delegation struct {
		Index       int    `json:"index"`
		CertIndex   int    `json:"cert_index"`
		Address     string `json:"address"`
		PoolID      string `json:"pool_id"`
		ActiveEpoch uint64 `json:"active_epoch"`
	}
	all := []delegation{}
	for i, c := range d.Details.Certificates {
		if slices.Contains(contents.Delegates, c.Type) {
			all = append(all, delegation{i, i, c.StakeAddress, c.Pool, epoch + delegationDelay})
		}
	}
	q.Answer = all
	return nil
}

func txMIRs(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	all := []contents.Reward{}
	for i := range d.Details.Certificates {
		all = append(all, q.mirsOf(d, i)...)
	}
	q.Answer = all
	return nil
}

// mirsOf returns the payments of rewards of a certificate.
func (q *request) mirsOf(d *exchange.Decoded, i int) []contents.Reward {
	if i >= len(d.Parts.Certificates) {
		return nil
	}
	return contents.RewardsOf(i, d.Parts.Certificates[i], q.StakeAddress)
}

func txPoolRetires(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	type retirement struct {
		CertIndex     int    `json:"cert_index"`
		PoolID        string `json:"pool_id"`
		RetiringEpoch uint64 `json:"retiring_epoch"`
	}
	all := []retirement{}
	for i, c := range d.Details.Certificates {
		if c.Type == contents.RetiresPool && c.Epoch != nil {
			all = append(all, retirement{i, c.Pool, *c.Epoch})
		}
	}
	q.Answer = all
	return nil
}
