package cli

import (
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
)

func rangeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "height-from", Usage: "only from block `H`"},
		&cli.StringFlag{Name: "height-to", Usage: "only up to block `H`, inclusive"},
		&cli.StringFlag{Name: "time-from", Usage: "only from the first block at or after `T` (unix seconds or 2026-11-21T12:00:00Z)"},
		&cli.StringFlag{Name: "time-to", Usage: "only up to the last block at or before `T`"},
	}
}

// rangeOf returns the range that the flags select.
func rangeOf(c *cli.Context) (r query.Range, err error) {
	if r.FromHeight, err = heightFlag(c, "height-from"); err != nil {
		return r, err
	}
	if r.ToHeight, err = heightFlag(c, "height-to"); err != nil {
		return r, err
	}
	if r.FromTime, err = timeFlag(c, "time-from"); err != nil {
		return r, err
	}
	r.ToTime, err = timeFlag(c, "time-to")
	return r, err
}

// timeFlag returns the time in a flag as unix seconds, nil if it is not set.
func timeFlag(c *cli.Context, name string) (*int64, error) {
	if !c.IsSet(name) {
		return nil, nil
	}
	if n, err := strconv.ParseInt(c.String(name), 10, 64); err == nil && n >= 0 {
		return &n, nil
	}
	t, err := time.Parse(time.RFC3339, c.String(name))
	if err != nil {
		return nil, badValue(c, name, "unix seconds, or a time such as 2026-11-21T12:00:00Z")
	}
	n := t.Unix()
	return &n, nil
}
