package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "show help",
		ArgsUsage: "[COMMAND] [SUBCOMMAND]",
		Category:  helping,
		Action: func(c *cli.Context) error {
			app := p.app()
			line, err := p.reorder(app, slices.Concat([]string{app.Name}, c.Args().Slice(), []string{"--help"}))
			if err != nil {
				return err
			}
			return app.RunContext(c.Context, line)
		},
	}
}

// helpTemplate returns the template of the help of a command.
func helpTemplate(command string) string {
	return `{{.UsageText}}

   {{wrap .Usage 3}}{{if .Description}}

   {{wrap .Description 3}}{{end}}{{if .VisibleCommands}}

COMMANDS:{{template "visibleCommandTemplate" .}}{{end}}

FLAGS:{{template "visibleFlagTemplate" .}}

EXAMPLES:
   ` + strings.ReplaceAll(examples[command], "\n", "\n   ") + "\n"
}

// examples are the EXAMPLES sections of the help, by command.
var examples = map[string]string{
	"birthmark sync": `birthmark sync --chain bitcoin --source http://127.0.0.1:8332 --password-file ~/.bitcoin/.cookie --db btc
birthmark sync --chain bitcoin --network signet --source p2p:// --db signet --follow
birthmark sync --chain cardano --network preview --source file:///var/cardano/immutable --db preview`,
	"birthmark rollback":     `birthmark rollback --db btc --to-height 800000`,
	"birthmark check":        `birthmark check --db btc`,
	"birthmark verify":       `birthmark verify --db btc --source http://127.0.0.1:8332 --sample 1000`,
	"birthmark index":        `birthmark index list --db btc`,
	"birthmark index list":   `birthmark index list --db btc`,
	"birthmark index add":    `birthmark index add script_hash --db btc --source http://127.0.0.1:8332`,
	"birthmark index drop":   `birthmark index drop script_hash --db btc`,
	"birthmark index verify": `birthmark index verify address --db btc`,
	"birthmark status":       `birthmark status --db btc --json`,
	"birthmark blocks":       `birthmark blocks --db btc --order desc --limit 10`,
	"birthmark block":        `birthmark block 170 --db btc`,
	"birthmark tx":           `birthmark tx f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16 --db btc`,
	"birthmark output":       `birthmark output f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:1 --db btc`,
	"birthmark find": `birthmark find address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S --db btc --unspent
birthmark find --follow address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S --db btc --cursor wallet --json`,
	"birthmark history":       `birthmark history address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S --db btc --order desc`,
	"birthmark cursor":        `birthmark cursor list --db btc`,
	"birthmark cursor set":    `birthmark cursor set wallet 800000 --db btc`,
	"birthmark cursor get":    `birthmark cursor get wallet --db btc`,
	"birthmark cursor list":   `birthmark cursor list --db btc`,
	"birthmark cursor delete": `birthmark cursor delete wallet --db btc`,
	"birthmark balance":       `birthmark balance address 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S --db btc`,
	"birthmark richest":       `birthmark richest address --db btc --limit 100`,
	"birthmark values":        `birthmark values address --db btc --prefix 1Satoshi`,
	"birthmark assets":        `birthmark assets --db preview --limit 100`,
	"birthmark asset":         `birthmark asset asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3 --db ada`,
	"birthmark asset-events":  `birthmark asset-events asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3 --db ada`,
	"birthmark asset-holders": `birthmark asset-holders asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3 --db ada`,
	"birthmark forks":         `birthmark forks --db btc`,
	"birthmark serve": `birthmark serve --db btc
birthmark serve --config birthmark.yaml --listen 0.0.0.0:8080`,
	"birthmark decode":         `birthmark decode --chain bitcoin ~/.bitcoin/blocks/blk00000.dat`,
	"birthmark dump":           `birthmark dump --digest --db btc`,
	"birthmark schema":         `birthmark schema --chain cardano`,
	"birthmark fields":         `birthmark fields --chain bitcoin`,
	"birthmark config":         `birthmark config --config birthmark.yaml`,
	"birthmark bench":          `birthmark bench append --txs 1000000`,
	"birthmark bench append":   `birthmark bench append --chain cardano --txs 1000000`,
	"birthmark bench query":    `birthmark bench query --db btc`,
	"birthmark bench rollback": `birthmark bench rollback --blocks 1000`,
	"birthmark bench serve":    `birthmark bench serve --db btc --connections 64 --seconds 10`,
	"birthmark bench tip":      `birthmark bench tip --txs 1000000`,
	"birthmark bench generate": `birthmark bench generate --chain cardano --txs 100000 generated`,
	"birthmark bench sync":     `birthmark bench sync --chain bitcoin --source file:///var/bitcoin/blocks`,
	"birthmark bench decode":   `birthmark bench decode --chain bitcoin --source blk00000.dat`,
	"birthmark version":        `birthmark version --json`,
	"birthmark help":           `birthmark help index add`,
}
