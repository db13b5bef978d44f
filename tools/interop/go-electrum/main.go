// Command go-electrum asks an Electrum server at HOST:PORT about scripts, with the client of github.com/checksum0. It
// prints one line of JSON with the answers, and another line with the height of the next tip and the script whose
// status changes next.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/checksum0/go-electrum/electrum"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr string, scripts []string) error {
	client, err := electrum.NewClientTCP(ctx, addr)
	if err != nil {
		return err
	}
	defer client.Shutdown()
	limited, cancel := context.WithTimeout(ctx, 5*time.Second) // it may be sent only once: see again
	defer cancel()
	if _, _, err = client.ServerVersion(limited); err != nil && err != electrum.ErrTimeout {
		return err
	}
	tips, err := again(ctx, client.SubscribeHeaders)
	if err != nil {
		return err
	}
	answer := map[string]any{"tip": (<-tips).Height}
	lists := map[string][]any{}
	add := func(name string, v any, err error) error {
		lists[name] = append(lists[name], v)
		return err
	}
	sub, changes := client.SubscribeScripthash()
	for _, script := range scripts {
		_, err := again(ctx, func(ctx context.Context) (any, error) { return nil, sub.Add(ctx, script) })
		if err != nil {
			return err
		}
		if err := add("statuses", (<-changes).Params[1], nil); err != nil {
			return err
		}
		balance, err := ask(ctx, client.GetBalance, script)
		if err = add("balances", map[string]int64{"confirmed": int64(balance.Confirmed), "unconfirmed": int64(balance.Unconfirmed)}, err); err != nil {
			return err
		}
		history, err := ask(ctx, client.GetHistory, script)
		if err = add("histories", history, err); err != nil {
			return err
		}
		unspent, err := ask(ctx, client.ListUnspent, script)
		if err = add("unspent", unspent, err); err != nil {
			return err
		}
		for _, entry := range history {
			raw, err := ask(ctx, client.GetRawTransaction, entry.Hash)
			if err = add("raws", raw, err); err != nil {
				return err
			}
		}
	}
	for name, list := range lists {
		answer[name] = list
	}
	first := lists["histories"][0].([]*electrum.GetMempoolResult)[0]
	verbose, err := ask(ctx, client.GetTransaction, first.Hash)
	if err != nil {
		return err
	}
	answer["verbose"] = verbose.Hex
	answer["merkle"], err = again(ctx, func(ctx context.Context) (any, error) {
		return client.GetMerkleProof(ctx, first.Hash, uint32(first.Height))
	})
	if err != nil {
		return err
	}
	features, err := again(ctx, client.ServerFeatures)
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

// again repeats a request that gets no answer: the library loses an answer that arrives before it has prepared for it.
func again[T any](ctx context.Context, request func(context.Context) (T, error)) (v T, err error) {
	for range 20 {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		v, err = request(limited)
		cancel()
		if err != electrum.ErrTimeout {
			break
		}
	}
	return v, err
}

// ask makes a request about a script or a transaction.
func ask[T any](ctx context.Context, request func(context.Context, string) (T, error), about string) (T, error) {
	return again(ctx, func(ctx context.Context) (T, error) { return request(ctx, about) })
}
