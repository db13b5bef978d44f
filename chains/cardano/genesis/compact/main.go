// Command compact writes the files of a network that package genesis embeds, from its Byron genesis file:
//
//	go run ./chains/cardano/genesis/compact byron-genesis.json chains/cardano/genesis/mainnet
//
// It writes mainnet.json, the canonical JSON without the funds of redeem keys (avvmDistr), and mainnet.avvm with these: per
// key its 32 bytes and the lovelace as an unsigned varint, in the order of the file. mainnet.avvm is not written if there
// are none.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: compact BYRON-GENESIS.json NETWORK")
		os.Exit(2)
	}
	if err := compact(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "compact:", err)
		os.Exit(1)
	}
}

func compact(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	rest, given, err := split(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if err := os.WriteFile(to+".json", rest, 0o666); err != nil || len(given) == 0 {
		return err
	}
	return os.WriteFile(to+".avvm", given, 0o666)
}

// split returns a genesis file without the funds of redeem keys, and these.
func split(raw []byte) (rest, given []byte, err error) {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	var file map[string]any
	if err := in.Decode(&file); err != nil {
		return nil, nil, err
	}
	amounts, _ := file["avvmDistr"].(map[string]any)
	for _, text := range slices.Sorted(maps.Keys(amounts)) {
		// Keys are padded: the output does not record padding.
		key, err := base64.URLEncoding.DecodeString(text)
		if err == nil && len(key) != 32 {
			err = fmt.Errorf("it has %d bytes, a key has 32", len(key))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("avvmDistr of %q: %w", text, err)
		}
		amount, err := strconv.ParseUint(fmt.Sprint(amounts[text]), 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("avvmDistr of %q: %w", text, err)
		}
		given = binary.AppendUvarint(append(given, key...), amount)
	}
	file["avvmDistr"] = map[string]any{}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(file); err != nil {
		return nil, nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), given, nil
}
