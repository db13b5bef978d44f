package cardanogen

import (
	"slices"
)

// The numbers of certificates (rule certificate of the ledger's CDDL).
const (
	certRegister = iota
	certDeregister
	certDelegate
	certPool
	certRetire
	certGenesis
	certRewards
	certReg
	certUnreg
	certVote
	certDelegateVote
	certRegDelegate
	certRegVote
	certRegDelegateVote
	certAuthorize
	certResign
	certRegDRep
	certUnregDRep
	certUpdateDRep
)

// certificate makes a certificate that follows from the registry, and changes it. It returns nil if the drawn kind has
// nothing to apply to. The credential that must sign comes first in the certificate, so its script is certified.
func (c *Chain) certificate() []byte {
	kind := c.rng.IntN(certRewards + 1)
	if c.era >= eraConway {
		if kind = c.rng.IntN(certUpdateDRep + 1); kind == certGenesis || kind == certRewards {
			return nil
		}
	}
	head := c.number(uint64(kind))
	switch kind {
	case certPool, certRetire:
		return c.poolCertificate(kind, head)
	case certGenesis: // the delegate of a genesis key
		return c.list(head, c.fillerBytes(nil, 28), c.fillerBytes(nil, 28), c.fillerBytes(nil, 32))
	case certRewards:
		return c.rewards(head)
	case certAuthorize, certResign:
		return c.committeeCertificate(kind, head)
	case certRegDRep, certUnregDRep, certUpdateDRep:
		return c.drepCertificate(kind, head)
	}
	return c.accountCertificate(kind, head)
}

// signed adds the script of a credential of the next certificate.
func (c *Chain) signed(credential uint64) {
	if isScriptCredential(credential) {
		c.runs(credential, certifying, len(c.parts.certificates))
	}
}

// accountCertificate registers, deregisters or delegates a stake credential, in the form before Conway or in Conway's.
func (c *Chain) accountCertificate(kind int, head []byte) []byte {
	p, registers := &c.parts, kind == certRegister || kind == certReg || kind >= certRegDelegate && kind <= certRegDelegateVote
	var account uint64
	if registers {
		account = stakeNumber(c.recipient())
		if slices.Contains(c.accounts, account) || !c.canSign(account) {
			return nil
		}
	} else {
		var ok bool
		if account, ok = c.anyOf(c.accounts); !ok || !c.canSign(account) {
			return nil
		}
	}
	fields := [][]byte{head, c.cred(account)}
	pool, hasPool := c.anyOf(c.pools)
	deposit := c.number(accountDeposit)
	switch kind {
	case certRegister:
		p.cost += accountDeposit
		c.accounts = append(c.accounts, account)
		return c.list(fields...) // needs no signature
	case certDeregister, certUnreg:
		p.gain += accountDeposit
		c.accounts = without(slices.Clone(c.accounts), account)
		if kind == certUnreg {
			fields = append(fields, deposit)
		}
		c.signed(account)
		return c.list(fields...)
	}
	if kind == certDelegate || kind == certDelegateVote || kind == certRegDelegate || kind == certRegDelegateVote {
		if !hasPool {
			return nil
		}
		fields = append(fields, byteString(c.poolKey(pool)))
	}
	if kind == certVote || kind == certDelegateVote || kind == certRegVote || kind == certRegDelegateVote {
		fields = append(fields, c.representative())
	}
	if registers {
		p.cost += accountDeposit
		c.accounts = append(c.accounts, account)
		fields = append(fields, deposit)
	}
	c.signed(account)
	return c.list(fields...)
}

// representative encodes the DRep of a delegation.
func (c *Chain) representative() []byte {
	const abstain, noConfidence = 2, 3
	drep, ok := c.anyOf(c.dreps)
	switch {
	case c.rng.Chance(0.2):
		return c.list(c.number(noConfidence))
	case !ok || c.rng.Chance(0.2):
		return c.list(c.number(abstain))
	}
	return c.cred(drep)
}

// poolCertificate registers a pool, changes it or retires it.
func (c *Chain) poolCertificate(kind int, head []byte) []byte {
	if kind == certRetire {
		pool, ok := c.anyOf(c.pools)
		if !ok {
			return nil
		}
		c.pools = without(slices.Clone(c.pools), pool) // nobody delegates to it any more
		return c.list(head, byteString(c.poolKey(pool)), c.number(c.epoch()+1+c.rng.Uint64N(18)))
	}
	pool := c.rng.Uint64N(issuers)
	if !slices.Contains(c.pools, pool) {
		c.parts.cost += poolDeposit // it can be one that retires, whose deposit was paid
		c.pools = append(c.pools, pool)
	}
	var owners, relays [][]byte
	for range c.rng.IntN(4) {
		owners = append(owners, byteString(c.credential(nil, stakeNumber(c.recipient()))))
	}
	port := func() []byte {
		if c.rng.Chance(0.3) {
			return null
		}
		return c.number(c.rng.Uint64N(1 << 16))
	}
	ip := func(n int) []byte {
		if c.rng.Chance(0.5) {
			return null
		}
		return c.fillerBytes(nil, n)
	}
	for range c.rng.IntN(4) {
		switch c.rng.IntN(3) {
		case 0:
			relays = append(relays, c.list(c.number(0), port(), ip(4), ip(16)))
		case 1:
			relays = append(relays, c.list(c.number(1), port(), text("relay.example.org")))
		case 2:
			relays = append(relays, c.list(c.number(2), text("_cardano._tcp.example.org")))
		}
	}
	about := null
	if c.rng.Chance(0.7) {
		about = c.list(text("https://example.org/pool.json"), c.fillerBytes(nil, 32))
	}
	return c.list(head, byteString(c.poolKey(pool)), c.fillerBytes(nil, 32), c.number(c.rng.Uint64N(1e15)), c.number(170_000_000),
		c.fraction(c.rng.Uint64N(101), 100), byteString(c.account(stakeNumber(c.recipient()))), c.set(owners...), c.list(relays...), about)
}

// rewards pays rewards from the reserves or the treasury, or moves lovelace between them as since Alonzo.
func (c *Chain) rewards(head []byte) []byte {
	pot := c.number(c.rng.Uint64N(2))
	if c.era >= eraAlonzo && c.rng.Chance(0.3) {
		return c.list(head, c.list(pot, c.number(c.rng.Uint64N(1e12))))
	}
	var payments [][]byte
	seen := map[uint64]bool{}
	for range 1 + c.rng.IntN(4) {
		account := stakeNumber(c.recipient())
		if seen[account] {
			continue
		}
		seen[account] = true
		payments = append(payments, c.cred(account), c.number(c.rng.Uint64N(1e12)))
	}
	return c.list(head, c.list(pot, c.dict(payments...)))
}

// committeeCertificate authorizes a hot credential of a member of the committee, or resigns.
func (c *Chain) committeeCertificate(kind int, head []byte) []byte {
	cold := coldNumbers + c.rng.Uint64N(8)
	if !c.canSign(cold) {
		return nil
	}
	c.signed(cold)
	i := slices.Index(c.colds, cold)
	if i >= 0 { // its earlier hot credential votes no longer
		c.colds, c.hot = slices.Delete(slices.Clone(c.colds), i, i+1), slices.Delete(slices.Clone(c.hot), i, i+1)
	}
	if kind == certResign {
		return c.list(head, c.cred(cold), c.anchorOrNull())
	}
	hot := hotNumbers + c.rng.Uint64N(100)
	c.colds, c.hot = append(c.colds, cold), append(c.hot, hot)
	return c.list(head, c.cred(cold), c.cred(hot))
}

// drepCertificate registers, deregisters or updates a DRep.
func (c *Chain) drepCertificate(kind int, head []byte) []byte {
	drep, ok := c.anyOf(c.dreps)
	if kind == certRegDRep {
		c.newDReps++
		drep, ok = drepNumbers+c.newDReps, true
	}
	if !ok || !c.canSign(drep) {
		return nil
	}
	c.signed(drep)
	switch kind {
	case certRegDRep:
		c.parts.cost += drepDeposit
		c.dreps = append(c.dreps, drep)
		return c.list(head, c.cred(drep), c.number(drepDeposit), c.anchorOrNull())
	case certUnregDRep:
		c.parts.gain += drepDeposit
		c.dreps = without(slices.Clone(c.dreps), drep)
		return c.list(head, c.cred(drep), c.number(drepDeposit))
	}
	return c.list(head, c.cred(drep), c.anchorOrNull())
}
