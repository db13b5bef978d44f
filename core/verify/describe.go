package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// describe returns the place of a row in the block, what it is, and a function that renders its value.
func (v *verifier) describe(row derivedRow) (at Difference, text func(value []byte) (string, error)) {
	pointer, what, text := v.meaning(row)
	if x := v.indexOf(row.family); x != nil {
		at.Index = x.Name
	}
	pk, err := model.ParseUtxoPk(pointer[:min(len(pointer), model.PkSize)]) // or a pointer of the same form
	if err != nil {
		at.What = fmt.Sprintf("row %x of %s", row.key, v.FamilyName(row.family))
		return at, func(b []byte) (string, error) { return hex.EncodeToString(b), nil }
	}
	at.Height, at.Tx = uint32(pk.Height()), v.txName(pk.Tx())
	at.What = strings.ReplaceAll(what, "#", strconv.Itoa(pk.Index()))
	return at, text
}

// indexOf returns the index that a family belongs to; nil if there is none.
func (v *verifier) indexOf(f storage.Family) *schema.Index {
	if f < schema.FirstIndexFamily {
		return nil
	}
	return v.ByNumber(uint64((f - schema.FirstIndexFamily) / schema.FamiliesPerIndex))
}

// meaning returns the pointer of a row to a transaction, an input or an output, what the row is, with # for the
// number of the input or output, and a function that renders its value.
func (v *verifier) meaning(row derivedRow) (pointer []byte, what string, text func(value []byte) (string, error)) {
	key := row.key
	tail := func(n int) []byte { return key[min(n, len(key)):] }
	switch row.family {
	case schema.FamilyTxHash:
		return key, "transaction", func(b []byte) (string, error) {
			hash, fee, err := schema.ParseTxHashRow(b)
			s := v.Chain.FormatHash(hash)
			if fee.Stated {
				s += ", fee " + strconv.FormatUint(fee.Amount, 10)
			}
			return s, err
		}
	case schema.FamilyTxPk:
		return tail(storage.PrefixSize), "transaction by hash", keyOnly("found")
	case schema.FamilyRaw:
		return key, "bytes of the transaction", func(b []byte) (string, error) {
			return fmt.Sprintf("%d bytes with the SHA-256 %x", len(b), sha256.Sum256(b)), nil
		}
	case schema.FamilyUtxo:
		return key, "output #", func(b []byte) (string, error) { return v.outputText(key, b) }
	case schema.FamilySpentUtxo:
		return key, "input # spends", func(b []byte) (string, error) {
			pk, err := model.ParseUtxoPk(b)
			return v.outpoint(pk), err
		}
	case schema.FamilySpentInput:
		return key, "spender of output #", func(b []byte) (string, error) {
			pk, err := model.ParseInputPk(b)
			return fmt.Sprintf("input %d of %s", pk.Index(), v.txName(pk.Tx())), err
		}
	case schema.FamilyAssets:
		return key, "assets of output #", func(b []byte) (string, error) { return v.assetsText(key, b) }
	case schema.FamilyAssetSupply:
		what := "mint or burn of " + v.valueAt(schema.AssetSpace, key)
		return tail(model.PkOrdinalSize), what, func(b []byte) (string, error) {
			amount, err := schema.ParseSupplyRow(b)
			return fmt.Sprint(amount), err
		}
	case schema.FamilyFingerprint:
		return row.value, "found by fingerprint: asset born in output #", func(b []byte) (string, error) {
			return v.valueAt(schema.AssetSpace, b), nil
		}
	case schema.FamilyAssetInfo:
		return key, "info of the asset born in output #", func(b []byte) (string, error) { return hex.EncodeToString(b), nil }
	}
	name, space, which := "asset", schema.AssetSpace, storage.Family(0)
	if x := v.indexOf(row.family); x != nil {
		name, space, which = x.Name, x.Number, (row.family-schema.FirstIndexFamily)%schema.FamiliesPerIndex
	} else {
		kinds := []storage.Family{schema.FamilyAssetID, schema.FamilyAssetBirth, schema.FamilyAssetRelations}
		which = storage.Family(slices.Index(kinds, row.family)) // as of an index
	}
	_, _, wide := v.BirthFamilies(space)
	size := schema.PointerSize(wide)
	switch which {
	case schema.IndexValue:
		return key, name + " born in output #", func(b []byte) (string, error) { return v.format(space, b), nil }
	case schema.IndexBirth:
		birth := tail(storage.PrefixSize)
		return birth, "found by " + name + ": output #", keyOnly(v.valueAt(space, birth))
	case schema.IndexRelations:
		return tail(size), "found by " + name + ": output #", keyOnly(v.valueAt(space, key))
	default:
		birth := tail(len(key) - size)
		return birth, "found by prefix of " + name + ": output #", keyOnly(v.valueAt(space, birth))
	}
}

// keyOnly renders a row that has no value.
func keyOnly(text string) func(value []byte) (string, error) {
	return func(value []byte) (string, error) {
		if len(value) > 0 {
			return "", fmt.Errorf("%w: it must not have a value", schema.ErrRow)
		}
		return text, nil
	}
}

// read returns a row as it was derived, or the stored one if it was not.
func (v *verifier) read(f storage.Family, key []byte) ([]byte, error) {
	if row, found := v.derived.byKey[f][string(key)]; found {
		return row, nil
	}
	return v.r.Get(f, key)
}

func (v *verifier) format(space int, value []byte) string {
	if space == schema.AssetSpace {
		return v.Chain.FormatAsset(value)
	}
	return v.ByNumber(uint64(space)).Format(value)
}

// valueAt returns the text of the value, or asset, whose birth is at the beginning of b.
func (v *verifier) valueAt(space int, b []byte) string {
	_, values, wide := v.BirthFamilies(space)
	birth := b[:min(schema.PointerSize(wide), len(b))]
	value, err := v.read(values, birth)
	if err != nil {
		return fmt.Sprintf("the value born at %x (%v)", birth, err)
	}
	return v.format(space, value)
}

// txName returns the hash of a transaction, or its pointer if it cannot be read.
func (v *verifier) txName(pk model.TxPk) string {
	row, err := v.read(schema.FamilyTxHash, pk.AppendTo(nil))
	if err == nil {
		if hash, _, err := schema.ParseTxHashRow(row); err == nil {
			return v.Chain.FormatHash(hash)
		}
	}
	return pk.String()
}

func (v *verifier) outpoint(pk model.UtxoPk) string {
	return fmt.Sprintf("%s:%d", v.txName(pk.Tx()), pk.Index())
}

func (v *verifier) outputText(key, value []byte) (string, error) {
	pk, _ := model.ParseUtxoPk(key)
	row, err := v.ParseUtxoRow(pk, value)
	if err != nil {
		return "", err
	}
	texts := []string{"value " + strconv.FormatUint(row.Value, 10)}
	for _, o := range row.Occurrences {
		texts = append(texts, o.Index.Name+" "+v.valueAt(o.Index.Number, o.Birth.AppendTo(nil, o.Index.Kind.HasOrdinal())))
	}
	return strings.Join(texts, ", "), nil
}

func (v *verifier) assetsText(key, value []byte) (string, error) {
	pk, _ := model.ParseUtxoPk(key)
	entries, err := schema.ParseAssetsRow(pk, value)
	var texts []string
	for _, e := range entries {
		action := "transfer"
		if e.Minted {
			action = "mint"
		}
		texts = append(texts, fmt.Sprintf("%s %d %s", action, e.Amount, v.valueAt(schema.AssetSpace, e.Birth.AppendTo(nil))))
	}
	return strings.Join(texts, ", "), err
}
