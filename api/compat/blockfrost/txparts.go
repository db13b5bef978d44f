package blockfrost

import (
	"cmp"
	"encoding/hex"
	"math/big"
	"net/http"
	"slices"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// labels returns the metadata of a transaction by label, of which the last one is valid, and the labels in order.
func (d *decoded) labels() (labels []uint64, items map[uint64][]byte) {
	items = map[uint64][]byte{}
	for label, item := range ledger.Metadata(d.Auxiliary) {
		if _, again := items[label]; !again {
			labels = append(labels, label)
		}
		items[label] = item
	}
	slices.Sort(labels)
	return labels, items
}

func txMetadata(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	type entry struct {
		Label string `json:"label"`
		Value any    `json:"json_metadata"`
	}
	all := []entry{}
	labels, _ := d.labels()
	for _, label := range labels {
		text := decimal(label)
		all = append(all, entry{text, d.details.Metadata[text]})
	}
	q.answer = all
	return nil
}

func txMetadataCBOR(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	type entry struct {
		Label    string `json:"label"`
		Prefixed string `json:"cbor_metadata"`
		Metadata string `json:"metadata"`
	}
	all := []entry{}
	labels, items := d.labels()
	for _, label := range labels {
		text := hex.EncodeToString(labelled(label, items[label]))
		all = append(all, entry{decimal(label), `\x` + text, text})
	}
	q.answer = all
	return nil
}

// labelled returns the CBOR of a map with one label.
func labelled(label uint64, item []byte) []byte {
	return append(cbor.AppendHead(cbor.AppendHead(nil, cbor.Map, 1), cbor.Uint, label), item...)
}

// redeemerJSON is a redeemer.
type redeemerJSON struct {
	TxIndex    uint64 `json:"tx_index"`
	Purpose    string `json:"purpose"`
	ScriptHash string `json:"script_hash"`
	DataHash   string `json:"redeemer_data_hash"`
	DatumHash  string `json:"datum_hash"`
	UnitMem    string `json:"unit_mem"`
	UnitSteps  string `json:"unit_steps"`
	Fee        string `json:"fee"`
}

func txRedeemers(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	q.answer, err = q.redeemers(d)
	return err
}

// redeemers returns the redeemers of a transaction by index.
func (q *request) redeemers(d *decoded) ([]redeemerJSON, error) {
	all := []redeemerJSON{}
	redeemers := d.Witnessed().Redeemers
	if len(redeemers) > 0 && q.network == nil {
		return nil, notImplemented("the fees of redeemers need the prices of their units, which this server has for public networks only")
	}
	spent, err := q.spentAddresses(d, redeemers)
	if err != nil {
		return nil, err
	}
	for i := range redeemers {
		r := &redeemers[i]
		script := d.body.ScriptOf(r, func(i uint64) []byte { return spent[i] })
		if script == nil || r.Purpose >= uint64(len(ledger.RedeemerPurposes)) {
			return nil, newFault(http.StatusNotImplemented, "the script of redeemer "+strconv.Itoa(i)+" cannot be determined")
		}
		hash := blake2b.Sum256(r.Data)
		text := hex.EncodeToString(hash[:])
		all = append(all, redeemerJSON{
			TxIndex: r.Index, Purpose: ledger.RedeemerPurposes[r.Purpose], ScriptHash: hexOf(script), DataHash: text, DatumHash: text,
			UnitMem: decimal(r.Memory), UnitSteps: decimal(r.Steps), Fee: feeOfUnits(r.Memory, r.Steps),
		})
	}
	slices.SortStableFunc(all, func(a, b redeemerJSON) int { return cmp.Compare(a.TxIndex, b.TxIndex) })
	return all, nil
}

// The prices of units of memory and of steps, over priceBase. They are those of the Alonzo genesis of the public networks,
// and no update has changed them.
const (
	priceMemory = 577_000
	priceSteps  = 721
	priceBase   = 10_000_000
)

// feeOfUnits returns the fee for units of memory and steps, rounded up.
func feeOfUnits(memory, steps uint64) string {
	fee := new(big.Int).Mul(new(big.Int).SetUint64(memory), big.NewInt(priceMemory))
	fee.Add(fee, new(big.Int).Mul(new(big.Int).SetUint64(steps), big.NewInt(priceSteps)))
	fee.Add(fee, big.NewInt(priceBase-1))
	return fee.Div(fee, big.NewInt(priceBase)).String()
}

// spentAddresses returns the addresses of the inputs that redeemers are for, by position.
func (q *request) spentAddresses(d *decoded, redeemers []ledger.Redeemer) (map[uint64][]byte, error) {
	spent := map[uint64][]byte{}
	var in []model.Input
	var at []uint64
	for i := range redeemers {
		if r := &redeemers[i]; r.Purpose == ledger.PurposeSpend && r.Index < uint64(len(d.body.Inputs)) {
			in, at = append(in, d.body.Inputs[r.Index]), append(at, r.Index)
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

func txSigners(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	type signer struct {
		WitnessHash string `json:"witness_hash"`
	}
	all := []signer{}
	for _, hash := range d.details.RequiredSigners {
		all = append(all, signer{hash})
	}
	q.answer = all
	return nil
}

func txWithdrawals(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	all := []model.Withdrawal{}
	q.answer = append(all, d.details.Withdrawals...)
	return nil
}

// Certificates that register, deregister and delegate stake.
var (
	registers   = []string{"stake_registration", "reg", "stake_reg_deleg", "vote_reg_deleg", "stake_vote_reg_deleg"}
	deregisters = []string{"stake_deregistration", "unreg"}
	delegates   = []string{"stake_delegation", "stake_vote_deleg", "stake_reg_deleg", "stake_vote_reg_deleg"}
)

const (
	registersPool = "pool_registration"
	retiresPool   = "pool_retirement"
)

// countCertificates sets the counts of certificates.
func (q *request) countCertificates(d *decoded, t *txContents) {
	for i, c := range d.details.Certificates {
		if slices.Contains(registers, c.Type) || slices.Contains(deregisters, c.Type) {
			t.StakeCertCount++
		}
		if slices.Contains(delegates, c.Type) {
			t.DelegationCount++
		}
		switch c.Type {
		case registersPool:
			t.PoolUpdateCount++
		case retiresPool:
			t.PoolRetireCount++
		}
		t.MIRCertCount += len(q.mirsOf(d, i))
	}
}

func txStakes(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	type stake struct {
		CertIndex    int    `json:"cert_index"`
		Address      string `json:"address"`
		Registration bool   `json:"registration"`
	}
	all := []stake{}
	for i, c := range d.details.Certificates {
		if in := slices.Contains(registers, c.Type); in || slices.Contains(deregisters, c.Type) {
			all = append(all, stake{i, c.StakeAddress, in})
		}
	}
	q.answer = all
	return nil
}

// epochOf returns the epoch of the block of a transaction.
func (q *request) epochOf(tx model.TxPk) (uint64, error) {
	row, err := q.blockRow(tx.Height())
	if err != nil {
		return 0, err
	}
	if row.header.Epoch == nil {
		return 0, notImplemented("the epochs of a network are known only with its genesis files")
	}
	return *row.header.Epoch, nil
}

// delegationDelay is the number of epochs after which a delegation is active.
const delegationDelay = 2

func txDelegations(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	epoch, err := q.epochOf(d.pk)
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
	for i, c := range d.details.Certificates {
		if slices.Contains(delegates, c.Type) {
			all = append(all, delegation{i, i, c.StakeAddress, c.Pool, epoch + delegationDelay})
		}
	}
	q.answer = all
	return nil
}

func txMIRs(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	all := []contents.Reward{}
	for i := range d.details.Certificates {
		all = append(all, q.mirsOf(d, i)...)
	}
	q.answer = all
	return nil
}

// mirsOf returns the payments of rewards of a certificate.
func (q *request) mirsOf(d *decoded, i int) []contents.Reward {
	if i >= len(d.body.Certificates) {
		return nil
	}
	return contents.RewardsOf(i, d.body.Certificates[i], q.stakeAddress)
}

func txPoolRetires(q *request) error {
	d, err := q.decode()
	if err != nil {
		return err
	}
	type retirement struct {
		CertIndex     int    `json:"cert_index"`
		PoolID        string `json:"pool_id"`
		RetiringEpoch uint64 `json:"retiring_epoch"`
	}
	all := []retirement{}
	for i, c := range d.details.Certificates {
		if c.Type == retiresPool && c.Epoch != nil {
			all = append(all, retirement{i, c.Pool, *c.Epoch})
		}
	}
	q.answer = all
	return nil
}
