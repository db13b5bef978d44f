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

// describe returns the position of a row in the block, the kind of the row, and its value as text.
func (v *verifier) describe(row blockRow) (at Difference, text string) {
	if x := v.indexOf(row.family); x != nil && x.Kind == model.PerBlock {
		found, _ := schema.ParseBlocksRow(row.key, row.value) // derived rows are valid
		return Difference{Height: uint32(found.Height), Index: x.Name, What: "block found by " + x.Name}, x.Format(found.Value)
	}
	pointer, what, text, err := v.meaning(row)
	if err != nil {
		text = err.Error()
	}
	if x := v.indexOf(row.family); x != nil {
		at.Index = x.Name
	}
	pk, err := model.ParseUtxoPk(pointer[:min(len(pointer), model.PkSize)]) // or a pointer of the same form
	if err != nil {
		at.What = fmt.Sprintf("row %x of %s", row.key, v.FamilyName(row.family))
		return at, hex.EncodeToString(row.value)
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
// number of the input or output, and its value as a text. It returns an error if the value has a wrong layout.
func (v *verifier) meaning(row blockRow) (pointer []byte, what, text string, err error) {
	key, value := row.key, row.value
	tail := func(n int) []byte { return key[min(n, len(key)):] }
	if len(value) > 0 {
		err = fmt.Errorf("%w: it must not have a value", schema.ErrRow) // returned for families without values
	}
	switch row.family {
	case schema.FamilyTxHash:
		hash, fee, err := schema.ParseTxHashRow(value)
		text = v.Chain.FormatHash(hash)
		if fee.Stated {
			text += ", fee " + strconv.FormatUint(fee.Amount, 10)
		}
		return key, "transaction", text, err
	case schema.FamilyTxPk:
		return tail(storage.PrefixSize), "transaction by hash", "found", err
	case schema.FamilyRaw:
		text = fmt.Sprintf("%d bytes with the SHA-256 %x", len(value), sha256.Sum256(value))
		return key, "bytes of the transaction", text, nil
	case schema.FamilyUtxo:
		text, err = v.outputText(key, value)
		return key, "output #", text, err
	case schema.FamilySpentUtxo:
		pk, err := model.ParseUtxoPk(value)
		return key, "input # spends", fmt.Sprintf("%s:%d", v.txName(pk.Tx()), pk.Index()), err
	case schema.FamilySpentInput:
		pk, err := model.ParseInputPk(value)
		return key, "spender of output #", fmt.Sprintf("input %d of %s", pk.Index(), v.txName(pk.Tx())), err
	case schema.FamilyAssets:
		text, err = v.assetsText(key, value)
		return key, "assets of output #", text, err
	case schema.FamilyAssetSupply:
		supply, err := schema.ParseSupplyRow(key, value)
		what = "mint or burn of " + v.valueAt(schema.AssetSpace, key)
		if text = fmt.Sprint(supply.Amount); supply.Mints && supply.Burns {
			text = fmt.Sprintf("%v less %v", supply.Minted, supply.Burned)
		}
		return tail(model.PkOrdinalSize), what, text, err
	case schema.FamilyFingerprint:
		return value, "found by fingerprint: asset born in output #", v.valueAt(schema.AssetSpace, value), nil
	case schema.FamilyAssetInfo:
		return key, "info of the asset born in output #", hex.EncodeToString(value), nil
	}
	name, space, which := "asset", schema.AssetSpace, storage.Family(0)
	if x := v.indexOf(row.family); x != nil {
		name, space, which = x.Name, x.Number, (row.family-schema.FirstIndexFamily)%schema.FamiliesPerIndex
	} else {
		kinds := []storage.Family{schema.FamilyAssetID, schema.FamilyAssetBirth, schema.FamilyAssetRelations}
		which = storage.Family(slices.Index(kinds, row.family)) // in the order of the families of an index
	}
	_, _, wide := v.BirthFamilies(space)
	size := schema.PointerSize(wide)
	switch which {
	case schema.IndexValue:
		return key, name + " born in output #", v.format(space, value), nil
	case schema.IndexBirth:
		pointer = tail(storage.PrefixSize)
		return pointer, "found by " + name + ": output #", v.valueAt(space, pointer), err
	case schema.IndexRelations:
		return tail(size), "found by " + name + ": output #", v.valueAt(space, key), err
	default:
		pointer = tail(len(key) - size)
		return pointer, "found by prefix of " + name + ": output #", v.valueAt(space, pointer), err
	}
}

// read returns a row as it was derived, or the stored one if it was not.
func (v *verifier) read(f storage.Family, key []byte) ([]byte, error) {
	if row := v.derived.value(f, key); row != nil {
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
		texts = append(texts, fmt.Sprintf("%s %s %s", action, e.Amount, v.valueAt(schema.AssetSpace, e.Birth.AppendTo(nil))))
	}
	return strings.Join(texts, ", "), err
}
