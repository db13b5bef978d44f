package cli

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/api"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/model"
)

func (p *program) submitCommand() *cli.Command {
	return &cli.Command{
		Name:      "submit",
		Usage:     "submit a transaction to a node, without a database",
		ArgsUsage: "HEX|FILE|-",
		Category:  standalone,
		Flags: slices.Concat(command.ChainFlags(), []cli.Flag{
			command.String("node", "`URL` of the node (default: the source, if that is a node)"),
			command.Bool("test", "print whether the node would accept the transactions, and submit nothing"),
			command.Bool("package", "submit all transactions together, parents first"),
			command.String("max-fee-rate", "refuse a higher fee `RATE`, in coins per 1,000 virtual bytes; 0: no limit"),
			command.String("max-burn-amount", "refuse a higher `AMOUNT` of unspendable outputs, in coins"),
		}, command.SourceFlags("`URL` of the node"), command.CommonFlags()),
		Action: p.submit,
	}
}

// maxInput is the maximum size in bytes of the transactions in hex.
const maxInput = 64 << 20

func (p *program) submit(c *cli.Context) (err error) {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	chain, err := p.Host(c).Chain(set)
	if err != nil {
		return err
	}
	txs, err := p.readTxs(c.Args().First())
	if err != nil {
		return err
	}
	if len(txs) > 1 && !c.Bool("test") && !c.Bool("package") {
		return command.UsageError("bad_value", "%d transactions: expected one, or --package or --test for several", len(txs))
	}
	node, err := daemon.OpenNode(c.Context, set, chain, nil)
	if err != nil {
		return err
	}
	if node == nil {
		return command.UsageError("missing_flag", "missing --node URL, such as http://127.0.0.1:8332 (or node in the settings, or BIRTHMARK_NODE)")
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	submitter, ok := node.(model.Submitter)
	if !ok {
		return model.Errorf(model.NotFound, "unsupported", "birthmark cannot submit transactions to nodes of %s", chain.Name())
	}
	o := model.SubmitOptions{MaxFeeRate: c.String("max-fee-rate"), MaxBurnAmount: c.String("max-burn-amount")}
	for flag, value := range map[string]string{"max-fee-rate": o.MaxFeeRate, "max-burn-amount": o.MaxBurnAmount} {
		if value != "" && !api.IsAmount(value) {
			return command.BadValue(c, flag, "a decimal number such as 0.1")
		}
	}
	switch {
	case c.Bool("test"):
		return p.nodeAnswer(c.Context, chain, submitter.TestAccept, txs, o)
	case c.Bool("package"):
		return p.nodeAnswer(c.Context, chain, submitter.SubmitPackage, txs, o)
	}
	id, err := submitter.Submit(c.Context, txs[0], o)
	if err != nil {
		return err
	}
	hash := chain.FormatHash(id)
	return p.Answer(chain, &api.SubmitAnswer{Hash: hash}, func(p *terminal.Page) { p.Printf("%s\n", hash) })
}

// nodeAnswer prints the answer of the node, which is JSON.
func (p *program) nodeAnswer(ctx context.Context, chain model.Chain,
	ask func(context.Context, [][]byte, model.SubmitOptions) ([]byte, error), txs [][]byte, o model.SubmitOptions) error {
	answer, err := ask(ctx, txs, o)
	if err != nil {
		return err
	}
	return p.Answer(chain, json.RawMessage(answer), func(p *terminal.Page) { p.Printf("%s\n", answer) })
}

// readTxs returns the transactions of an argument: hex, or a file or standard input with one transaction in hex per
// line.
func (p *program) readTxs(arg string) (txs [][]byte, err error) {
	if tx, err := hex.DecodeString(arg); err == nil {
		return [][]byte{tx}, nil
	}
	in := p.Stdin
	if arg != "-" {
		f, err := os.Open(arg)
		if err != nil {
			return nil, command.UsageError("bad_value", "the argument is neither a transaction in hex nor a file: %w", err)
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(io.LimitReader(in, maxInput))
	lines.Buffer(nil, maxInput)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		tx, err := hex.DecodeString(text)
		if err != nil {
			return nil, command.UsageError("bad_value", "line %d: expected a serialized transaction in hex", len(txs)+1)
		}
		txs = append(txs, tx)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(txs) == 0 {
		return nil, command.UsageError("bad_value", "no transaction: expected one in hex per line")
	}
	return txs, nil
}
