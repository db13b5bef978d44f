package ergographql

import (
	"encoding/json"
	"errors"
	"slices"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
)

// Limits of a list.
const (
	maxTake     = 200
	maxValues   = 20      // of a condition
	maxExamined = 100_000 // boxes that are compared with conditions that no index answers
)

// boxArgs are the conditions on boxes of the chain and of the mempool.
type boxArgs struct {
	BoxID, Address, ErgoTree, ErgoTreeTemplateHash, TokenID *string
	BoxIDs, Addresses, ErgoTrees                            *[]string
	Skip, Take                                              int32
}

// chainBoxArgs are the conditions on boxes of the chain.
type chainBoxArgs struct {
	boxArgs
	Spent                *bool
	MinHeight, MaxHeight *int32
	HeightType           string
}

type headerArgs struct {
	HeaderID   *string
	Height     *int32
	Skip, Take int32
}

type tokenArgs struct {
	TokenID    *string
	TokenIDs   *[]string
	Skip, Take int32
}

// txArgs are the conditions on unconfirmed transactions.
type txArgs struct {
	TransactionID, Address    *string
	TransactionIDs, Addresses *[]string
	Skip, Take                int32
}

// signed is the scalar SignedTransaction.
type signed struct{ raw []byte }

// ImplementsGraphQLType reports whether the type is that of the schema.
func (signed) ImplementsGraphQLType(name string) bool { return name == "SignedTransaction" }

// UnmarshalGraphQL reads a variable, or an object in the query.
func (s *signed) UnmarshalGraphQL(input any) (err error) {
	if s.raw, err = json.Marshal(input); err == nil && s.raw[0] != '{' {
		err = errors.New("the transaction is not a JSON object")
	}
	return err
}

type submission struct{ SignedTransaction signed }

// window reads skip and take.
func window(skip, take int32) (offset, limit int, err error) {
	if skip < 0 || take < 1 || take > maxTake {
		return 0, 0, bad("skip: expected a number from 0 on; take: expected 1 to %d", maxTake)
	}
	return int(skip), int(take), nil
}

// merged returns the values of a list and of a single argument.
func merged(list *[]string, one *string) (all []string, err error) {
	if list != nil {
		all = append(all, *list...)
	}
	if one != nil {
		all = append(all, *one)
	}
	if len(all) > maxValues {
		return nil, bad("a condition has %d values: expected at most %d", len(all), maxValues)
	}
	return all, nil
}

// idsOf returns the ids of a list and of a single argument.
func idsOf(list *[]string, one *string) ([]sigma.ID, error) {
	texts, err := merged(list, one)
	ids := make([]sigma.ID, len(texts))
	for i, text := range texts {
		var ok bool
		if ids[i], ok = boxes.ParseID(text); !ok {
			return nil, bad("%q is not an id: expected 64 hex digits", text)
		}
	}
	return ids, err
}

// optionalID returns the id of an argument; nil without one.
func optionalID(text *string) (*sigma.ID, error) {
	ids, err := idsOf(nil, text)
	if len(ids) == 0 {
		return nil, err
	}
	return &ids[0], nil
}

// conditions are parsed arguments. A list without values is no condition.
type conditions struct {
	ids             []sigma.ID
	trees           []boxes.Holder
	template, token *sigma.ID
	spent           *bool
	minimum         int
	maximum         int // -1: none
	creation        bool
	offset, limit   int
}

// conditions reads the arguments, then looks up the scripts.
func (q *request) conditions(a *boxArgs) (c conditions, err error) {
	c.maximum = -1
	if c.offset, c.limit, err = window(a.Skip, a.Take); err != nil {
		return c, err
	}
	if c.ids, err = idsOf(a.BoxIDs, a.BoxID); err != nil {
		return c, err
	}
	trees, err := q.trees(a)
	if err != nil {
		return c, err
	}
	if c.template, err = optionalID(a.ErgoTreeTemplateHash); err != nil {
		return c, err
	}
	if c.token, err = optionalID(a.TokenID); err != nil {
		return c, err
	}
	c.trees, err = q.holders(trees)
	return c, err
}

// trees returns the scripts of a condition.
func (q *request) trees(a *boxArgs) (trees [][]byte, err error) {
	addresses, err := merged(a.Addresses, a.Address)
	if err != nil {
		return nil, err
	}
	for _, text := range addresses {
		stored, err := q.Chain.AddressIndex().Parse(text)
		if err != nil {
			return nil, err
		}
		trees = append(trees, ergo.AddressTree(stored))
	}
	texts, err := merged(a.ErgoTrees, a.ErgoTree)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		tree, err := boxes.ParseTree(text)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

// holders looks up scripts, each once.
func (q *request) holders(trees [][]byte) (all []boxes.Holder, err error) {
	for _, tree := range trees {
		h, err := q.v.HolderOf(tree)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(x boxes.Holder) bool { return string(x.Value) == string(h.Value) }) {
			all = append(all, *h)
		}
	}
	return all, nil
}
