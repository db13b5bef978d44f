package cardano

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// certificateForms are the certificates by number (rule certificate of the ledger's CDDL). A letter is a field: s stake
// credential, p pool, e epoch, d deposit, r vote delegation, D credential of a DRep, c and h of the committee (cold, hot),
// P parameters of a pool, a the document that the last field refers to; * is the rest, which is not decoded.
var certificateForms = [...]struct{ name, fields string }{
	{"stake_registration", "s"}, {"stake_deregistration", "s"}, {"stake_delegation", "sp"}, {"pool_registration", "Pa"},
	{"pool_retirement", "pe"}, {"genesis_key_delegation", "*"}, {"move_instantaneous_rewards", "*"}, {"reg", "sd"},
	{"unreg", "sd"}, {"vote_deleg", "sr"}, {"stake_vote_deleg", "spr"}, {"stake_reg_deleg", "spd"}, {"vote_reg_deleg", "srd"},
	{"stake_vote_reg_deleg", "sprd"}, {"auth_committee_hot", "ch"}, {"resign_committee_cold", "ca"}, {"reg_drep", "Dda"},
	{"unreg_drep", "Dd"}, {"update_drep", "Da"},
}

// certificates reads the certificates of a body. One that is malformed has no fields but its bytes.
func (c *chain) certificates(item []byte) (all []model.Certificate) {
	if item == nil {
		return nil
	}
	w := cbor.Walker{Data: item}
	for _, raw := range w.Sequence("certificates") {
		d, err := c.certificate(raw)
		if err != nil {
			d = model.Certificate{Type: d.Type}
		}
		d.Raw = hex.EncodeToString(raw)
		all = append(all, d)
	}
	return all
}

func (c *chain) certificate(raw []byte) (d model.Certificate, err error) {
	w := cbor.Walker{Data: raw}
	f := w.Fields("certificate")
	kind := f.Uint("type of a certificate")
	if kind >= uint64(len(certificateForms)) {
		d.Type = fmt.Sprintf("unknown_%d", kind)
		return d, w.Err
	}
	form := certificateForms[kind]
	d.Type = form.name
	for _, field := range form.fields {
		switch field {
		case 's':
			d.StakeAddress = address.FormatStakeCredential(c.net.Network, body.ReadCredential(f.Fields("credential")))
		case 'p':
			d.Pool = address.FormatPoolHash(f.BytesOf(address.CredentialSize, "pool"))
		case 'e':
			epoch := f.Uint("epoch")
			d.Epoch = &epoch
		case 'd':
			d.Deposit = strconv.FormatUint(f.Uint("deposit"), 10)
		case 'r':
			d.DRep = readDRep(&f)
		case 'D':
			d.DRep = address.FormatGovernance(address.DRep, body.ReadCredential(f.Fields("credential")))
		case 'c':
			d.Credential = address.FormatGovernance(address.CommitteeCold, body.ReadCredential(f.Fields("credential")))
		case 'h':
			d.HotCredential = address.FormatGovernance(address.CommitteeHot, body.ReadCredential(f.Fields("credential")))
		case 'P':
			c.pool(&d, &f, &w)
		case 'a':
			if url, hash := body.AnchorOf(raw); url != nil {
				d.URL, d.Hash = *url, hex.EncodeToString(hash)
			}
		}
	}
	return d, w.Err
}

// Representatives without a credential.
const (
	drepAbstain      = 2
	drepNoConfidence = 3
)

func readDRep(f *cbor.Fields) string {
	pair := f.Fields("DRep")
	kind := pair.Uint("kind of a DRep")
	switch kind {
	case drepAbstain:
		pair.End()
		return "abstain"
	case drepNoConfidence:
		pair.End()
		return "no_confidence"
	}
	hash := pair.BytesOf(address.CredentialSize, "hash of a DRep")
	pair.End()
	return address.FormatGovernance(address.DRep, append([]byte{byte(kind)}, hash...))
}

// pool reads the parameters of a pool (rule pool_params).
func (c *chain) pool(d *model.Certificate, f *cbor.Fields, w *cbor.Walker) {
	d.Pool = address.FormatPoolHash(f.BytesOf(address.CredentialSize, "operator"))
	f.Skip("VRF key")
	ledger.SkipBLSKey(f)
	d.Pledge = strconv.FormatUint(f.Uint("pledge"), 10)
	d.Cost = strconv.FormatUint(f.Uint("cost"), 10)
	d.Margin = readFraction(f.Item("margin"))
	d.RewardAddress = address.FormatAccount(c.net.Network, f.Bytes("reward account"))
	owners, err := ledger.Hashes(f.Item("owners"))
	for _, hash := range owners {
		d.Owners = append(d.Owners, address.FormatStakeCredential(c.net.Network, append([]byte{0}, hash...)))
	}
	if w.Err == nil {
		w.Err = err
	}
}

// readFraction returns a rational number (tag 30) as text, empty if it is malformed.
func readFraction(item []byte) string {
	w := cbor.Walker{Data: item}
	if w.Major() == cbor.Tag {
		w.Head("fraction")
	}
	f := w.Fields("fraction")
	over, under := f.Uint("numerator"), f.Uint("denominator")
	if w.Err != nil || under == 0 {
		return ""
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(over), new(big.Int).SetUint64(under)).RatString()
}
