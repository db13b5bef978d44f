package cardanogen

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/cardano/cbor"
)

// More keys of a transaction body, which only transactions with [Options.AllParts] have.
const (
	keyCertificates = 4
	keyWithdrawals  = 5
	keyUpdate       = 6
	keyStart        = 8
	keySigners      = 14
	keyNetwork      = 15
	keyVotes        = 19
	keyProposals    = 20
	keyTreasury     = 21
	keyDonation     = 22
)

// The eras by their number in blocks. A chain with [Options.AllParts] begins with Shelley, and each era before Conway is
// one epoch.
const (
	eraShelley = iota + 2
	eraAllegra
	eraMary
	eraAlonzo
	eraBabbage

	partsEpoch = 160 // slots of an epoch of a chain with all parts
)

func (c *Chain) epochSlots() uint64 {
	if c.options.AllParts {
		return partsEpoch
	}
	return epochSlots
}

func (c *Chain) eraAt(slot uint64) int {
	if !c.options.AllParts {
		return eraConway
	}
	return int(min(eraShelley+slot/partsEpoch, eraConway))
}

// epoch is the epoch of the current block.
func (c *Chain) epoch() uint64 { return c.slot / c.epochSlots() }

// extras are the parts of the current transaction without inputs, outputs and mints.
type extras struct {
	certificates, proposals [][]byte
	withdrawals             []withdrawal
	votes                   []byte
	donation                uint64
	gain, cost              uint64 // lovelace that the inputs do not have, and that the outputs do not get

	scripts   []uint64 // that run
	redeemers []redeemer
	datums    [][]byte
}

// withdrawal is an amount from a reward account.
type withdrawal struct {
	credential uint64
	amount     uint64
}

// drawParts decides on the parts of the transaction. Of one that fails nothing is registered.
func (c *Chain) drawParts(fails bool) {
	before := c.registry.clone()
	p := &c.parts
	*p = extras{}
	total := uint64(0)
	for i := range c.spent {
		total += c.spent[i].value
	}
	for range c.rng.IntN(4) * c.rng.IntN(2) {
		if total+p.gain < p.cost+2*actionDeposit {
			break
		}
		if raw := c.certificate(); raw != nil {
			p.certificates = append(p.certificates, raw)
		}
	}
	c.drawWithdrawals(fails)
	if c.era >= eraConway {
		for range c.rng.IntN(2) * c.rng.IntN(3) * c.rng.IntN(2) {
			if total+p.gain < p.cost+2*actionDeposit {
				break
			}
			if raw := c.proposal(len(p.proposals)); raw != nil {
				p.proposals = append(p.proposals, raw)
			}
		}
		if c.rng.Chance(0.2) {
			p.votes = c.votes()
		}
		if c.rng.Chance(0.03) {
			p.donation = min(1+c.rng.Uint64N(1e9), total/4)
			p.cost += p.donation
		}
	}
	if fails {
		c.registry = before
	}
}

// drawWithdrawals draws withdrawals. A transaction that fails has one by a Plutus script, which is the one that fails.
func (c *Chain) drawWithdrawals(fails bool) {
	p := &c.parts
	if fails {
		number := uint64(stakeNumbers)
		for !isScriptCredential(number) || c.script(number).language == nativeScript || !c.usable(number) {
			number++
		}
		p.withdrawals = append(p.withdrawals, withdrawal{number, 0})
	}
	for range c.rng.IntN(3) * c.rng.IntN(2) {
		account, ok := c.anyOf(c.accounts)
		if !ok || !c.canSign(account) || slices.ContainsFunc(p.withdrawals, func(w withdrawal) bool { return w.credential == account }) {
			continue
		}
		w := withdrawal{account, c.rng.Uint64N(1e9) * c.rng.Uint64N(2)} // an amount of 0 is valid
		p.gain += w.amount
		p.withdrawals = append(p.withdrawals, w)
	}
	slices.SortFunc(p.withdrawals, func(a, b withdrawal) int { // of the ledger: scripts before keys
		return cmp.Or(-cmp.Compare(kindOfCredential(a.credential), kindOfCredential(b.credential)),
			bytes.Compare(c.hashOfCredential(a.credential), c.hashOfCredential(b.credential)))
	})
	for i, w := range p.withdrawals {
		if isScriptCredential(w.credential) {
			c.runs(w.credential, rewarding, i)
		}
	}
}

// field is a part of a transaction body.
type field struct {
	key   uint64
	value []byte
}

// appendFullBody is appendBody for transactions with all parts.
func (c *Chain) appendFullBody(slot, fee, index uint64, pledge coin) (id [32]byte) {
	p, fails := &c.parts, pledge.value > 0
	c.runInputs()
	c.runPolicies()
	var fields []field
	add := func(key uint64, value []byte) { fields = append(fields, field{key, value}) }

	add(keyInputs, c.set(c.outpoints(c.spent)...))
	var outputs [][]byte
	for i := range c.payments {
		outputs = append(outputs, c.appendOutput(nil, &c.payments[i]))
	}
	add(keyOutputs, c.list(outputs...))
	add(keyFee, c.number(fee))
	add(keyEnd, c.number(slot+7200))
	if c.era >= eraAllegra && (len(p.scripts) > 0 || c.rng.Chance(0.3)) {
		add(keyStart, c.number(min(slot, 1+c.rng.Uint64N(slot+1))))
	}
	if len(p.certificates) > 0 {
		add(keyCertificates, c.listOrSet(p.certificates))
	}
	if len(p.withdrawals) > 0 {
		var pairs [][]byte
		for _, w := range p.withdrawals {
			pairs = append(pairs, byteString(c.account(w.credential)), c.number(w.amount))
		}
		add(keyWithdrawals, c.dict(pairs...))
	}
	if c.era < eraConway && c.rng.Chance(0.05) {
		limit := c.dict(c.number(2), c.number(65_536+c.rng.Uint64N(100)))
		add(keyUpdate, c.list(c.dict(c.fillerBytes(nil, 28), limit), c.number(c.epoch())))
	}
	if c.rng.Chance(metadataShare) {
		auxiliary := c.auxiliary()
		c.aux = append(append(c.aux, c.number(index)...), auxiliary...)
		add(keyMetadata, byteString(hashOf(auxiliary)))
		c.metadata++
	}
	if len(c.minted) > 0 {
		add(keyMint, c.appendMultiAsset(nil, len(c.minted), func(i int) (uint32, int64) { return c.minted[i].asset, c.minted[i].amount }))
	}
	if len(p.votes) > 0 {
		add(keyVotes, p.votes)
	}
	if len(p.proposals) > 0 {
		add(keyProposals, c.listOrSet(p.proposals))
	}
	if p.donation > 0 {
		add(keyDonation, c.number(p.donation))
		add(keyTreasury, c.number(c.rng.Uint64N(1e15)))
	}
	if c.era >= eraAlonzo && c.rng.Chance(0.1) {
		add(keyNetwork, c.number(0))
	}
	if c.era >= eraAlonzo && c.rng.Chance(0.1) {
		add(keySigners, c.set(c.fillerBytes(nil, 28), c.fillerBytes(nil, 28)))
	}
	if len(p.redeemers) > 0 || len(p.datums) > 0 {
		add(keyScriptData, c.fillerBytes(nil, 32))
	}
	if len(p.redeemers) > 0 {
		fields = append(fields, c.collaterals(pledge)...)
	}
	referenced, outside := c.referenced()
	if c.era >= eraBabbage && (len(outside) > 0 || c.rng.Chance(0.1)) {
		if more := c.readOnly()[0]; len(outside) == 0 || c.rng.Chance(0.3) {
			outside = append(outside, more)
		}
		add(keyReferenceInputs, c.set(c.outpoints(outside)...))
	}
	slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.key, b.key) })
	if c.rng.Chance(0.05) {
		c.rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	}
	var pairs [][]byte
	for _, f := range fields {
		pairs = append(pairs, c.number(f.key), f.value)
	}
	body := c.dict(pairs...)
	c.bodies = append(c.bodies, body...)
	c.witnesses = append(c.witnesses, c.fullWitnesses(referenced)...)
	id = blake2b.Sum256(body)
	if !fails {
		for i := range p.proposals {
			c.actions = append(c.actions, action{id, uint64(i)})
		}
	}
	return id
}

// listOrSet encodes a list, or a set since Conway, in which equal items would count once.
func (c *Chain) listOrSet(items [][]byte) []byte {
	if slices.ContainsFunc(items, func(a []byte) bool { return count(items, a) > 1 }) {
		return c.list(items...)
	}
	return c.set(items...)
}

func count(items [][]byte, of []byte) (n int) {
	for _, i := range items {
		if bytes.Equal(i, of) {
			n++
		}
	}
	return n
}

func (c *Chain) outpoints(coins []coin) (all [][]byte) {
	for i := range coins {
		all = append(all, c.list(byteString(coins[i].tx[:]), c.number(uint64(coins[i].index))))
	}
	return all
}

// runInputs adds the scripts of the inputs and their datums. Redeemers count the inputs in the order of the ledger.
func (c *Chain) runInputs() {
	sorted := slices.Clone(c.spent)
	slices.SortFunc(sorted, func(a, b coin) int { return cmp.Or(bytes.Compare(a.tx[:], b.tx[:]), cmp.Compare(a.index, b.index)) })
	for i := range sorted {
		if isScript(kindOf(sorted[i].address)) {
			c.runs(scriptNumbers+scriptOf(sorted[i].address), spending, i)
			if d := sorted[i].datum; d != nil && count(c.parts.datums, d) == 0 {
				c.parts.datums = append(c.parts.datums, d)
			}
		}
	}
}

// runPolicies adds the scripts of the minted policies.
func (c *Chain) runPolicies() {
	var policies []uint32
	for _, m := range c.minted {
		if policy := c.universe.assets[m.asset].policy; !slices.Contains(policies, policy) {
			policies = append(policies, policy)
		}
	}
	slices.SortFunc(policies, func(a, b uint32) int { return bytes.Compare(c.policies[a][:], c.policies[b][:]) })
	for i, policy := range policies {
		c.runs(c.policyScripts[policy], minting, i)
	}
}

// collaterals returns the fields of the collateral, which transactions with Plutus scripts have.
func (c *Chain) collaterals(pledge coin) []field {
	if pledge.value == 0 {
		return []field{{keyCollateral, c.set(c.outpoints(c.spent[:1])...)}}
	}
	all := []field{{keyCollateral, c.set(c.outpoints([]coin{pledge})...)}}
	if c.era >= eraBabbage {
		back := payment{address: pledge.address, value: pledge.value - collateral}
		all = append(all, field{keyCollateralReturn, c.appendOutput(nil, &back)}, field{keyTotalCollateral, c.number(collateral)})
	}
	return all
}

// referenced returns the scripts that reference inputs have, and these inputs: for some of the scripts that run.
func (c *Chain) referenced() (scripts []uint64, inputs []coin) {
	if c.era < eraBabbage {
		return nil, nil
	}
	for _, n := range c.parts.scripts {
		if in, ok := c.references[n]; ok && c.rng.Chance(0.7) {
			scripts, inputs = append(scripts, n), append(inputs, in)
		}
	}
	return scripts, inputs
}

// auxiliary encodes metadata and scripts in a form of the era.
func (c *Chain) auxiliary() []byte {
	metadata := c.appendMetadata(nil)
	if c.rng.Chance(0.5) {
		metadata = c.labels()
	}
	forms := 1
	if c.era >= eraAllegra {
		forms = 2
	}
	if c.era >= eraAlonzo {
		forms = 3
	}
	native := func() []byte {
		s := script{}
		return c.list(s.native(distribution.NewRandom(c.rng.Uint64(), 1), 2))
	}
	switch c.rng.IntN(forms) {
	case 1:
		return c.list(metadata, native())
	case 2:
		const tagAuxiliary = 259
		pairs := [][]byte{c.number(0), metadata, c.number(1), native(), c.number(2), c.list(c.fillerBytes(nil, 40))}
		n := 2 * c.rng.IntN(4)
		return append(cbor.AppendHead(nil, cbor.Tag, tagAuxiliary), c.dict(pairs[:n]...)...)
	}
	return metadata
}

// labels encodes metadata of several labels, with values of every kind; among them that of the assets that the transaction
// mints (CIP-25).
func (c *Chain) labels() []byte {
	var pairs [][]byte
	if len(c.minted) > 0 {
		const nfts = 721
		a := c.universe.assets[c.minted[0].asset]
		about := c.dict(text("name"), text("ü 1"), text("image"), c.list(text("ipfs://"), text("Qm")), text("x"), c.datum(2))
		of := c.dict(byteString(c.policies[a.policy][:]), c.dict(byteString([]byte(a.name)), about), text("version"), c.number(2))
		pairs = append(pairs, c.number(nfts), of)
	}
	for i := range uint64(c.rng.IntN(4)) {
		pairs = append(pairs, c.number(1000*i+c.rng.Uint64N(1000)), c.datum(3))
	}
	return c.dict(pairs...)
}

// datum encodes a value of metadata.
func (c *Chain) datum(depth int) []byte {
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	switch c.rng.IntN(kinds) {
	case 0:
		return cbor.AppendInt(nil, int64(c.rng.Uint64()>>c.rng.IntN(64)))
	case 1:
		return text([]string{"", "text", "ü€𝄞", "a\"b\\c\x00", "<b>&amp;"}[c.rng.IntN(5)])
	case 2:
		return c.fillerBytes(nil, c.rng.IntN(65))
	case 3:
		return c.list(c.datum(depth-1), c.datum(depth-1))
	}
	return c.dict(text("k"), c.datum(depth-1), c.number(7), c.datum(depth-1), c.fillerBytes(nil, 3), c.datum(depth-1))
}
