package cli

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) assetCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "asset",
		Usage:     "show an asset: first occurrence, minted and burned amounts, supply, holders",
		ArgsUsage: "ID|FINGERPRINT",
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		a, err := db.Asset(ctx, c.Args().First())
		return a, func(pg *page) { pg.asset(a) }, err
	})
}

func (p *page) asset(a *query.AssetAnswer) {
	holders := ""
	if a.HolderCount != nil {
		holders = count(*a.HolderCount)
	}
	decimals := ""
	if a.Decimals != nil {
		decimals = strconv.Itoa(*a.Decimals)
	}
	p.fields(
		field{"asset", cell{a.Asset, green}},
		field{"fingerprint", text(a.Fingerprint)},
		field{"name", said(a.Name)},
		field{"description", said(a.Description)},
		field{"decimals", text(decimals)},
		field{"first seen", text(p.firstSeen(&a.FirstSeen))},
		field{"supply", cell{thousands(a.Supply), bold}},
		field{"minted", text(thousands(a.Minted))},
		field{"burned", text(thousands(a.Burned))},
		field{"mints", text(count(a.MintCount))},
		field{"burns", text(count(a.BurnCount))},
		field{"outputs", text(count(a.OutputCount))},
		field{"unspent", text(count(a.UnspentCount))},
		field{"holders", text(holders)},
	)
}

// maxSaid is the maximum number of characters of a name or description on a page.
const maxSaid = 200

// said makes text of an issuer safe for a terminal: one line of limited length, without control characters and
// without characters that change the direction of writing.
func said(s string) cell {
	shown := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, s))
	if len(shown) > maxSaid {
		return text(string(shown[:maxSaid]) + "…")
	}
	return text(string(shown))
}
