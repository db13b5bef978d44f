package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/api/health"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/model"
)

const healthTimeout = 5 * time.Second

func (p *program) healthCommand() *cli.Command {
	return &cli.Command{
		Name:      "health",
		Usage:     "check that a server answers, for containers and monitors",
		ArgsUsage: "[URL]",
		Category:  standalone,
		Flags: append([]cli.Flag{
			command.Bool("ready", "check also that every chain is near its tip"),
		}, command.CommonFlags()...),
		Action: p.health,
	}
}

// health prints the answer of /healthz or /readyz. It is an error of kind NotFound if a chain is not well, and of kind
// BadSource if the server does not answer within five seconds.
func (p *program) health(c *cli.Context) error {
	base := c.Args().First()
	if base == "" {
		base = "http://127.0.0.1:8080"
	}
	address, err := url.Parse(base)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return command.UsageError("bad_value", "invalid URL %q: expected one such as http://127.0.0.1:8080", base)
	}
	check := "healthz"
	if c.Bool("ready") {
		check = "readyz"
	}
	answer, status, err := askHealth(c, address.JoinPath(check).String())
	switch {
	case err != nil:
		return model.Errorf(model.BadSource, "unreachable", "no server answers at %s: %w", base, err)
	case status != http.StatusOK:
		return model.Errorf(model.NotFound, "unhealthy", "%s", faults(answer))
	}
	return p.Answer(nil, answer, func(page *terminal.Page) {
		page.Printf("ok\n")
		for _, chain := range answer.Chains {
			if chain.Tip != nil {
				page.Fields(chain.Chain, chain.Tip.Height)
			}
		}
	})
}

func askHealth(c *cli.Context, address string) (answer health.Answer, status int, err error) {
	request, err := http.NewRequestWithContext(c.Context, http.MethodGet, address, nil)
	if err != nil {
		return answer, 0, err
	}
	response, err := (&http.Client{Timeout: healthTimeout}).Do(request)
	if err != nil {
		return answer, 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	const most = 1 << 20
	if err = json.NewDecoder(io.LimitReader(response.Body, most)).Decode(&answer); err != nil {
		return answer, response.StatusCode, errors.New("its answer is not that of birthmark serve")
	}
	return answer, response.StatusCode, nil
}

// faults lists the chains that are not well, with the reasons.
func faults(a health.Answer) (text string) {
	for _, chain := range a.Chains {
		if !chain.OK {
			if text != "" {
				text += "; "
			}
			text += chain.Chain + ": " + chain.Why
		}
	}
	return text
}
