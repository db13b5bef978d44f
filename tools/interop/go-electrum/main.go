// Command go-electrum asks an Electrum server at HOST:PORT about scripts, with the client of github.com/checksum0. It
// prints one line of JSON with the answers, and another line with the height of the next tip and the script whose
// status changes next.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/checksum0/go-electrum/electrum"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr string, scripts []string) error {
	c, err := electrum.NewClientTCP(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Shutdown()
	if _, _, err = c.ServerVersion(ctx); err != nil {
		return err
	}
	tips, err := c.SubscribeHeaders(ctx)
	if err != nil {
		return err
	}
	answer := map[string]any{"tip": (<-tips).Height}
	lists := map[string][]any{}
	add := func(name string, v any, err error) error {
		lists[name] = append(lists[name], v)
		return err
	}
	sub, changes := c.SubscribeScripthash()
	for _, script := range scripts {
		if err := sub.Add(ctx, script); err != nil {
			return err
		}
		if err := add("statuses", (<-changes).Params[1], nil); err != nil {
			return err
		}
		balance, err := c.GetBalance(ctx, script)
		if err = add("balances", map[string]int64{"confirmed": int64(balance.Confirmed), "unconfirmed": int64(balance.Unconfirmed)}, err); err != nil {
			return err
		}
		history, err := c.GetHistory(ctx, script)
		if err = add("histories", history, err); err != nil {
			return err
		}
		unspent, err := c.ListUnspent(ctx, script)
		if err = add("unspent", unspent, err); err != nil {
			return err
		}
		for _, entry := range history {
			raw, err := c.GetRawTransaction(ctx, entry.Hash)
			if err = add("raws", raw, err); err != nil {
				return err
			}
		}
	}
	for name, list := range lists {
		answer[name] = list
	}
	first := lists["histories"][0].([]*electrum.GetMempoolResult)[0]
	verbose, err := c.GetTransaction(ctx, first.Hash)
	if err != nil {
		return err
	}
	answer["verbose"] = verbose.Hex
	if answer["merkle"], err = c.GetMerkleProof(ctx, first.Hash, uint32(first.Height)); err != nil {
		return err
	}
	features, err := c.ServerFeatures(ctx)
	if err != nil {
		return err
	}
	answer["genesis"] = features.GenesisHash
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(answer); err != nil {
		return err
	}
	return out.Encode(map[string]any{"tip": (<-tips).Height, "script": (<-changes).Params[0]})
}
