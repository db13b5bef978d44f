package schema

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/big"

	"birthmark/model"
	"birthmark/storage"
)

var assetIDFamily = declare(FamilyAssetID, "asset_id_by_birth_pk", storage.Ordered, incompressible,
	"asset_birth_pk", "asset_id", "an asset")

// The codec of the keys is in prefix.go.
var assetBirthFamily = declare(FamilyAssetBirth, "birth_pk_by_asset_id", storage.Hashed, incompressible|present,
	"prefix of asset_id|asset_birth_pk", "", "the birth of an asset; asset_id_by_birth_pk has the full id to compare")

// A fingerprint is a hash of policy and name, so an asset cannot be derived from it. Each row takes 30 bytes.
var fingerprintFamily = declare(FamilyFingerprint, "birth_pk_by_asset_fingerprint", storage.Lookup, 0,
	"fingerprint", "asset_birth_pk",
	"the birth of the asset with a fingerprint, on chains with fingerprints (Cardano: CIP-14)")

var assetInfoFamily = declare(FamilyAssetInfo, "asset_info_by_birth_pk", storage.Ordered, 0,
	"asset_birth_pk", "info",
	"the description of an asset by its first minting transaction (Ergo: registers R4 to R6, EIP-4); no row "+
		"if there is none")

// InfoChecksum is the FNV-1a hash (64 bits) of an asset's info, for the checksum in meta.
func InfoChecksum(info []byte) uint64 {
	h := fnv.New64a()
	h.Write(info)
	return h.Sum64()
}

var assetRelationsFamily = declare(FamilyAssetRelations, "asset_relations", storage.Grouped, deferred,
	"asset_birth_pk|asset_pk", "", "every occurrence of an asset after its birth")

// AssetRelationRow is an occurrence of an asset after its birth.
type AssetRelationRow struct {
	Birth model.AssetBirthPk
	At    model.AssetPk
}

func AppendAssetRelationKey(b []byte, birth model.AssetBirthPk, at model.AssetPk) []byte {
	return at.AppendTo(birth.AppendTo(b))
}

func ParseAssetRelationRow(key, value []byte) (AssetRelationRow, error) {
	r := reader{b: key}
	row := AssetRelationRow{r.assetBirth(), model.AssetPk(r.assetBirth())}
	return row, r.keyOnly(value)
}

var supplyFamily = declare(FamilyAssetSupply, "asset_supply_by_tx_pk", storage.Grouped, 0,
	"asset_birth_pk|tx_pk", "sign|magnitude",
	"the amount of an asset that a transaction minted (sign 0) or burned (sign 1). If assets are derived, the sign 2 and "+
		"uvarint length|minted|burned: it minted an amount, perhaps 0, and burned another, perhaps 0")

// SupplyRow is the amount of an asset that a transaction minted or burned.
type SupplyRow struct {
	Birth model.AssetBirthPk
	Tx    model.TxPk
	Supply
}

// Supply is a change of the supply of an asset by one transaction.
type Supply struct {
	Amount         *big.Int // minted minus burned
	Minted, Burned *big.Int
	Mints, Burns   bool // false: the amount is 0; a mint can be of 0
}

// supplyBoth is the first byte of a row with both amounts.
const supplyBoth = 2

// SupplyOf returns the change of an amount that is minted (positive) or burned (negative).
func SupplyOf(amount *big.Int) Supply {
	s := Supply{Amount: amount, Minted: new(big.Int), Burned: new(big.Int), Mints: amount.Sign() > 0, Burns: amount.Sign() < 0}
	if s.Burns {
		s.Burned.Neg(amount)
	} else {
		s.Minted = amount
	}
	return s
}

func AppendSupplyKey(b []byte, birth model.AssetBirthPk, tx model.TxPk) []byte {
	return tx.AppendTo(birth.AppendTo(b))
}

func AppendSupplyRow(b []byte, s *Supply) []byte {
	switch {
	case s.Mints && (s.Burns || s.Minted.Sign() == 0):
		minted := s.Minted.Bytes()
		b = binary.AppendUvarint(append(b, supplyBoth), uint64(len(minted)))
		return append(append(b, minted...), s.Burned.Bytes()...)
	case s.Mints:
		return append(append(b, 0), s.Minted.Bytes()...)
	}
	return append(append(b, 1), s.Burned.Bytes()...)
}

// AppendTokenSupplyRow appends the row of a change that rules derived.
func AppendTokenSupplyRow(b []byte, s *model.TokenSupply) []byte {
	switch {
	case s.Mints && (!s.Burned.IsZero() || s.Minted.IsZero()):
		b = append(b, supplyBoth, 0)
		length := len(b) - 1
		b = AppendHolding(b, s.Minted)
		b[length] = byte(len(b) - length - 1) // uvarint: at most 16
		return AppendHolding(b, s.Burned)
	case s.Mints:
		return AppendHolding(append(b, 0), s.Minted)
	}
	return AppendHolding(append(b, 1), s.Burned)
}

func ParseSupplyRow(key, value []byte) (SupplyRow, error) {
	r := reader{b: key}
	row := SupplyRow{Birth: r.assetBirth(), Tx: r.tx()}
	if err := r.end(); err != nil {
		return row, err
	}
	if len(value) < 2 || value[0] > supplyBoth || value[0] < supplyBoth && value[1] == 0 {
		return row, fmt.Errorf("%w: %x is not a change of the supply", ErrRow, value)
	}
	if value[0] < supplyBoth {
		amount := new(big.Int).SetBytes(value[1:])
		if value[0] == 1 {
			amount.Neg(amount)
		}
		row.Supply = SupplyOf(amount)
		return row, nil
	}
	r = reader{b: value[1:]}
	minted, burned := r.magnitudes("length of minted")
	row.Supply = Supply{Amount: new(big.Int).Sub(minted, burned), Minted: minted, Burned: burned, Mints: true, Burns: burned.Sign() > 0}
	if r.err == nil && minted.Sign() > 0 && !row.Burns {
		r.fail("the row of a mint has both amounts")
	}
	return row, r.err
}

// magnitudes reads [uvarint length|first|second], up to the end, both big-endian without leading zeros.
func (r *reader) magnitudes(length string) (first, second *big.Int) {
	head := r.take(int(r.atMost(uint64(len(r.b)), length)), "amount")
	for _, magnitude := range [][]byte{head, r.b} {
		if r.err == nil && len(magnitude) > 0 && magnitude[0] == 0 {
			r.fail("amount begins with 0")
		}
	}
	return new(big.Int).SetBytes(head), new(big.Int).SetBytes(r.b)
}

var holdingsFamily = declare(FamilyHoldings, "asset_holdings", storage.Lookup, present,
	"asset_birth_pk|birth_pk", "amount",
	"the amount of an asset in the unspent outputs of a holder, a value of the index address; a page of "+
		"holders reads that many rows")

// HoldingKey identifies the holding of an asset by one holder.
type HoldingKey struct {
	Asset  model.AssetBirthPk
	Holder model.BirthPk
}

// HoldingRow is a holding.
type HoldingRow struct {
	HoldingKey
	Amount model.Uint128
}

func AppendHoldingKey(b []byte, k HoldingKey) []byte {
	return k.Holder.AppendTo(k.Asset.AppendTo(b), false)
}

func ParseHoldingRow(key, value []byte) (HoldingRow, error) {
	r := reader{b: key}
	row := HoldingRow{HoldingKey: HoldingKey{r.assetBirth(), r.birth(false)}}
	if r.end() == nil {
		row.Amount, r.err = ParseHolding(value)
	}
	return row, r.err
}

// AppendHolding appends the value of asset_holdings and of an index's held_assets, which is positive.
func AppendHolding(b []byte, amount model.Uint128) []byte {
	return Int128{int64(amount.Hi), amount.Lo}.appendTo(b)
}

// ParseHolding decodes such a value.
func ParseHolding(b []byte) (model.Uint128, error) {
	if len(b) == 0 {
		return model.Uint128{}, fmt.Errorf("%w: a holding is empty", ErrRow)
	}
	return parseUint128(b)
}

var assetTotalsFamily = declare(FamilyAssetTotals, "asset_totals_by_birth_pk", storage.Lookup, present,
	"asset_birth_pk", "uvarint outputs|uvarint unspent|uvarint holders|uvarint mints|uvarint burns|uvarint length|minted|burned",
	"totals of an asset: outputs with it, unspent ones, holders, transactions that minted or burned it, and "+
		"the amounts")

// AssetTotals are the totals of an asset.
type AssetTotals struct {
	Outputs, Unspent uint64 // outputs with the asset
	Holders          uint64
	Mints, Burns     uint64 // counts of transactions
	Minted, Burned   big.Int
}

func AppendAssetTotalsRow(b []byte, t *AssetTotals) []byte {
	for _, n := range []uint64{t.Outputs, t.Unspent, t.Holders, t.Mints, t.Burns} {
		b = binary.AppendUvarint(b, n)
	}
	minted := t.Minted.Bytes()
	b = binary.AppendUvarint(b, uint64(len(minted)))
	return append(append(b, minted...), t.Burned.Bytes()...)
}

func ParseAssetTotalsRow(b []byte) (t AssetTotals, err error) {
	r := reader{b: b}
	t.Outputs, t.Unspent, t.Holders = r.uvarint("outputs"), r.uvarint("unspent outputs"), r.uvarint("holders")
	t.Mints, t.Burns = r.uvarint("mints"), r.uvarint("burns")
	minted, burned := r.magnitudes("length of minted")
	if r.err == nil {
		t.Minted, t.Burned = *minted, *burned
	}
	return t, r.err
}
