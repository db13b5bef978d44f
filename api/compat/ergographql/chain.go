package ergographql

import (
	"context"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// root resolves the fields of the types Query and Mutation.
type root struct{}

// BlockHeaders resolves a field of the schema.
func (*root) BlockHeaders(ctx context.Context, a headerArgs) ([]header, error) {
	return read(ctx, func(q *request) ([]header, error) {
		offset, limit, err := window(a.Skip, a.Take)
		if err != nil {
			return nil, err
		}
		first, last := 1, q.v.Height()
		if a.Height != nil {
			first, last = max(first, int(*a.Height)), min(last, int(*a.Height))
		}
		if a.HeaderID != nil {
			id, err := optionalID(a.HeaderID)
			if err != nil {
				return nil, err
			}
			b, err := q.v.BlockOf(model.Hash(*id))
			if err != nil || b == nil {
				return nil, err
			}
			first, last = max(first, int(b.Height)), min(last, int(b.Height))
		}
		var out []header
		for h := last - offset; h >= first && len(out) < limit; h-- {
			b, err := q.v.Block(model.HeightPk(h))
			if err != nil {
				return nil, err
			}
			out = append(out, headerOf(b))
		}
		return out, nil
	})
}

func headerOf(b *boxes.Block) header {
	h := b.Header
	id := func(id sigma.ID) string { return hex.EncodeToString(id[:]) }
	w := boxes.OneTimeKey(h)
	out := header{
		HeaderID: b.ID.String(), ParentID: id(h.Parent), NBits: strconv.FormatUint(uint64(h.NBits), 10),
		Difficulty: h.Difficulty().String(), Timestamp: strconv.FormatUint(h.Timestamp, 10),
		StateRoot: hex.EncodeToString(h.StateRoot[:]), ADProofsRoot: id(h.ADProofsRoot),
		TransactionsRoot: id(h.TransactionsRoot), ExtensionHash: id(h.ExtensionRoot), Version: int32(h.Version),
		Height: int32(b.Height), MainChain: true,
		PowSolutions: object{
			"pk": hex.EncodeToString(h.MinerKey[:]), "w": hex.EncodeToString(w[:]), "n": hex.EncodeToString(h.Nonce[:]),
			"d": new(big.Int).SetBytes(h.D).String(),
		},
	}
	for _, vote := range h.Votes {
		out.Votes = append(out.Votes, int32(vote))
	}
	return out
}

// Addresses resolves a field of the schema.
func (*root) Addresses(ctx context.Context, a struct{ Addresses []string }) ([]address, error) {
	return read(ctx, func(q *request) ([]address, error) {
		if len(a.Addresses) > maxValues {
			return nil, bad("addresses has %d values: expected at most %d", len(a.Addresses), maxValues)
		}
		trees, err := q.trees(&boxArgs{Addresses: &a.Addresses})
		out := make([]address, len(trees))
		for i, tree := range trees {
			if out[i], err = q.address(a.Addresses[i], tree); err != nil {
				return nil, err
			}
		}
		return out, err
	})
}

func (q *request) address(text string, tree []byte) (out address, err error) {
	h, err := q.v.HolderOf(tree)
	if err != nil {
		return out, err
	}
	t, err := q.v.Totals(h, true)
	if err != nil {
		return out, err
	}
	holdings, err := q.v.Held(h)
	if err != nil {
		return out, err
	}
	var births []model.AssetBirthPk
	for i := range holdings {
		births = append(births, holdings[i].Birth)
	}
	tokens, err := q.v.Tokens(births)
	if err != nil {
		return out, err
	}
	out = address{
		Address: text, Used: h.Birth != nil, Balance: balance{NanoErgs: strconv.FormatUint(t.Value, 10)},
		BoxesCount: int32(t.Boxes), TransactionsCount: int32(t.Txs),
	}
	for i := range holdings {
		id, _ := boxes.ParseID(holdings[i].ID)
		x := held{TokenID: holdings[i].ID, Amount: strconv.FormatUint(holdings[i].Amount, 10)}
		if t := tokens[id]; t != nil {
			x.Name, _, x.Decimals = describe(t)
		}
		out.Balance.Assets = append(out.Balance.Assets, x)
	}
	return out, nil
}

// describe returns the description of a token as the explorer reads it, whose database the original has; nil without
// one.
func describe(t *boxes.Token) (name, description *string, decimals *int32) {
	if t.Explorer == nil {
		return nil, nil, nil
	}
	n := int32(t.Explorer.Decimals)
	return &t.Explorer.Name, &t.Explorer.Description, &n
}

// Tokens resolves a field of the schema.
func (*root) Tokens(ctx context.Context, a tokenArgs) ([]token, error) {
	return read(ctx, func(q *request) ([]token, error) {
		offset, limit, err := window(a.Skip, a.Take)
		if err != nil {
			return nil, err
		}
		ids, err := idsOf(a.TokenIDs, a.TokenID)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			return nil, bad("tokens: tokenId or tokenIds is required")
		}
		known, err := q.v.TokensOf(ids)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id sigma.ID) bool { return known[id] == nil })
		out := []token{}
		for _, id := range page(ids, offset, limit) {
			t, err := q.token(known[id])
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
		return out, nil
	})
}

func (q *request) token(t *boxes.Token) (out token, err error) {
	pk, _, err := q.v.BoxOf(t.Box)
	if err != nil {
		return out, err
	}
	minting, err := q.v.AllBoxes([]model.UtxoPk{pk})
	if err != nil {
		return out, err
	}
	made, err := q.boxes(minting)
	if err != nil {
		return out, err
	}
	out = token{
		TokenID: hex.EncodeToString(t.ID[:]), BoxID: made[0].BoxID, EmissionAmount: strconv.FormatUint(t.InFirst, 10), Box: made[0],
	}
	if out.Name, out.Description, out.Decimals = describe(t); out.Name != nil {
		kind := "EIP-004"
		out.Type = &kind
	}
	return out, nil
}

// State resolves a field of the schema.
func (*root) State(ctx context.Context) (*state, error) {
	return read(ctx, func(q *request) (*state, error) {
		if q.v.Tip.IsOrigin() {
			return nil, bad("the server has no block yet")
		}
		b, err := q.v.Block(q.v.Tip.Height)
		if err != nil {
			return nil, err
		}
		return &state{
			BlockID: b.ID.String(), Height: int32(b.Height), Difficulty: b.Header.Difficulty().String(), Network: q.Chain.Network,
			BoxGlobalIndex:         strconv.FormatUint(q.v.Boxes()-1, 10),
			TransactionGlobalIndex: strconv.FormatUint(q.v.TxCount()-1, 10),
		}, nil
	})
}

// Info resolves a field of the schema.
func (*root) Info() info { return info{apiVersion} }

// apiVersion is the version of ergo-graphql whose schema this is a part of.
const apiVersion = "0.5.5"
