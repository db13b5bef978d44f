package command

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
)

// LimitFlag returns --limit.
func LimitFlag(what string) cli.Flag {
	return StringDefault("limit", "at most `N` "+what, "25")
}

// PageFlags returns the flags of a list that is printed in pages.
func PageFlags(what string) []cli.Flag {
	return []cli.Flag{
		LimitFlag(what),
		String("after", "continue from `CURSOR`, the next value of the previous page"),
	}
}

// OrderedPageFlags returns the flags of a list in the order of the chain.
func OrderedPageFlags(what string) []cli.Flag {
	order := StringDefault("order", "order of the chain, `asc|desc`; asc: oldest first", "asc")
	return append(PageFlags(what), order)
}

// Page returns the page that the flags select.
func Page(c *cli.Context) (query.Page, error) {
	n, err := Number(c, "limit", 0, 1, query.MaxLimit)
	if err != nil {
		return query.Page{}, err
	}
	if c.IsSet("after") && c.String("after") == "" {
		return query.Page{}, BadValue(c, "after", "the cursor of a page (its next)")
	}
	order := c.String("order")
	if c.IsSet("order") && order != "asc" && order != "desc" {
		return query.Page{}, BadValue(c, "order", "asc or desc")
	}
	return query.Page{Limit: int(n), After: c.String("after"), Descending: order == "desc"}, nil
}

// RangeFlags returns the flags that select a range of blocks.
func RangeFlags() []cli.Flag {
	return []cli.Flag{
		String("height-from", "only from block `H`"),
		String("height-to", "only up to block `H`, inclusive"),
		String("time-from", "only from the first block at or after `T` (unix seconds, 2026-11-21 or 2026-11-21T12:00:00Z)"),
		String("time-to", "only up to the last block at or before `T`; of a date, its end"),
	}
}

// Range returns the range that the flags select.
func Range(c *cli.Context) (r query.Range, err error) {
	if r.FromHeight, err = Height(c, "height-from"); err != nil {
		return r, err
	}
	if r.ToHeight, err = Height(c, "height-to"); err != nil {
		return r, err
	}
	if r.FromTime, err = timeOf(c, "time-from"); err != nil {
		return r, err
	}
	r.ToTime, err = timeOf(c, "time-to")
	return r, err
}

// GapFlag returns --gap.
func GapFlag() cli.Flag {
	return StringDefault("gap", "`N` unused addresses in a row end a branch of an extended public key or a descriptor", "20")
}

// Gap returns the number in --gap.
func Gap(c *cli.Context) (int, error) {
	n, err := Number(c, "gap", query.DefaultGap, 1, query.MaxGap)
	return int(n), err
}

// Moment returns the block that --at-height or --at-time selects; the zero Moment if neither is set.
func Moment(c *cli.Context) (m query.Moment, err error) {
	if err := Exclusive(c, "at-height", "at-time"); err != nil {
		return m, err
	}
	if m.Height, err = Height(c, "at-height"); err != nil {
		return m, err
	}
	m.Time, err = timeOf(c, "at-time")
	return m, err
}

// timeOf returns the time in a flag as unix seconds, nil if it is not set.
func timeOf(c *cli.Context, name string) (*int64, error) {
	if !c.IsSet(name) {
		return nil, nil
	}
	n, ok := query.ParseTime(c.String(name), name != "time-from")
	if !ok {
		return nil, BadValue(c, name, "unix seconds, or a time such as 2026-11-21 or 2026-11-21T12:00:00Z")
	}
	return &n, nil
}
