package blockfrost

import (
	"cmp"
	"encoding/hex"
	"slices"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

func txMetadata(v *view, d *decoded) (any, error) {
	all := []metadataValue{}
	labels, _ := contents.Labels(d.Auxiliary)
	for _, label := range labels {
		text := decimal(label)
		all = append(all, metadataValue{text, d.Details.Metadata[text]})
	}
	return all, nil
}

func txMetadataCBOR(v *view, d *decoded) (any, error) {
	all := []metadataCBORValue{}
	labels, items := contents.Labels(d.Auxiliary)
	for _, label := range labels {
		text := hex.EncodeToString(contents.Labelled(label, items[label]))
		all = append(all, metadataCBORValue{decimal(label), `\x` + text, text})
	}
	return all, nil
}

func txRedeemers(v *view, d *decoded) (any, error) {
	return v.redeemers(d)
}

// redeemers returns the redeemers of a transaction by index.
func (v *view) redeemers(d *decoded) ([]contents.Redeemer, error) {
	all := []contents.Redeemer{}
	redeemers := d.redeemers()
	if len(redeemers) > 0 && v.network == nil {
		return nil, notImplemented("the fees of redeemers need the prices of their units, which this server has for public networks only")
	}
	spent, err := v.spentAddresses(d, redeemers)
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
func (v *view) spentAddresses(d *decoded, redeemers []ledger.Redeemer) (map[uint64][]byte, error) {
	spent := map[uint64][]byte{}
	var in []model.Input
	var at []uint64
	for i := range redeemers {
		if r := &redeemers[i]; r.Purpose == ledger.PurposeSpend && r.Index < uint64(len(d.Parts.Inputs)) {
			in, at = append(in, d.Parts.Inputs[r.Index]), append(at, r.Index)
		}
	}
	found, err := v.Q.Prevouts(in)
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
	owners, err := v.Owners(pks)
	for i, o := range owners {
		spent[at[i]] = o.Raw
	}
	return spent, err
}

// txSigners answers the required signers, since Dijkstra the guards. cardano-db-sync, which Blockfrost reads, has no
// signers of Dijkstra yet (its Era/Shelley/Generic/Tx/Dijkstra.hs), so Blockfrost's answer about guards is unknown.
func txSigners(v *view, d *decoded) (any, error) {
	all := []signerValue{}
	for _, hash := range d.Details.RequiredSigners {
		all = append(all, signerValue{hash})
	}
	return all, nil
}

func txWithdrawals(v *view, d *decoded) (any, error) {
	all := []model.Withdrawal{}
	return append(all, d.Details.Withdrawals...), nil
}

// countCertificates sets the counts of certificates. In place of certificates that move rewards, Blockfrost counts the
// pots that pay, at most two (its src/sql/txs/txs_hash.sql).
func (v *view) countCertificates(d *decoded, t *txContents) {
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
		for _, r := range v.mirsOf(d, i) {
			pots[r.Pot] = true
		}
	}
	t.MIRCertCount = len(pots)
}

func txStakes(v *view, d *decoded) (any, error) {
	all := []txStakeValue{}
	for i, c := range d.Details.Certificates {
		if in := slices.Contains(contents.Registers, c.Type); in || slices.Contains(contents.Deregisters, c.Type) {
			all = append(all, txStakeValue{i, c.StakeAddress, in})
		}
	}
	return all, nil
}

// delegationDelay is the number of epochs after which a delegation is active.
const delegationDelay = 2

func txDelegations(v *view, d *decoded) (any, error) {
	epoch, err := v.epochAt(d.Pk.Height())
	if err != nil {
		return nil, err
	}
	all := []txDelegationValue{}
	for i, c := range d.Details.Certificates {
		if slices.Contains(contents.Delegates, c.Type) {
			all = append(all, txDelegationValue{i, i, c.StakeAddress, c.Pool, epoch + delegationDelay})
		}
	}
	return all, nil
}

func txMIRs(v *view, d *decoded) (any, error) {
	all := []contents.Reward{}
	for i := range d.Details.Certificates {
		all = append(all, v.mirsOf(d, i)...)
	}
	return all, nil
}

// mirsOf returns the payments of rewards of a certificate.
func (v *view) mirsOf(d *decoded, i int) []contents.Reward {
	if i >= len(d.Parts.Certificates) {
		return nil
	}
	return contents.RewardsOf(i, d.Parts.Certificates[i], v.stakeAddress)
}

func txPoolRetires(v *view, d *decoded) (any, error) {
	all := []txPoolRetireValue{}
	for i, c := range d.Details.Certificates {
		if c.Type == contents.RetiresPool && c.Epoch != nil {
			all = append(all, txPoolRetireValue{i, c.Pool, *c.Epoch})
		}
	}
	return all, nil
}
