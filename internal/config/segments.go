package config

import (
	"fmt"
	"strings"
)

// Segments are the settings of the segments that a primary records for replicas.
type Segments struct {
	Keep Size   // bytes that are kept in the folder of the database; 0: as before, SegmentsOff: none are recorded
	To   string // folder or bucket to which segments are published; empty: none
}

// SegmentsOff switches recording off.
const SegmentsOff Size = -1

// leastSegments is the minimum: some segments of large blocks.
const leastSegments = MiB

var segmentKeys = []key[Chain]{
	{name: "segments.keep", set: func(c *Chain, v, _ string) (err error) { c.Segments.Keep, err = parseSegments(v); return err }},
	{name: "segments.to", set: func(c *Chain, v, _ string) error { return setFolderOrBucket(&c.Segments.To, v) }},
}

func parseSegments(text string) (Size, error) {
	switch strings.ToLower(text) {
	case "off", "no", "false":
		return SegmentsOff, nil
	}
	s, err := ParseSize(text)
	if err != nil {
		return 0, fmt.Errorf("%w: expected a size or off", err)
	}
	if s < leastSegments {
		return 0, fmt.Errorf("%v of segments is too small: the least is %v", s, leastSegments)
	}
	return s, nil
}

// setFolderOrBucket reads the path of a folder, also as a file: URL, or the URL of a bucket.
func setFolderOrBucket(to *string, value string) error {
	path := strings.TrimPrefix(value, "file://")
	if scheme, _, ok := strings.Cut(path, "://"); ok && scheme != "s3" {
		return fmt.Errorf("%q is not a folder such as /backup/segments, or s3://BUCKET/PREFIX", value)
	}
	return setStorage(to, path)
}

// Enabled reports whether the settings switch recording on.
func (s Segments) Enabled() bool { return s.Keep > 0 || s.To != "" && s.Keep != SegmentsOff }

// SegmentsView is the part of a [ChainView] with the settings of segments.
type SegmentsView struct {
	Keep string `yaml:"keep,omitempty" json:"keep,omitempty"`
	To   string `yaml:"to,omitempty" json:"to,omitempty"`
}

// view returns the settings for [ChainView]; nil if they are not set.
func (s Segments) view() *SegmentsView {
	if s == (Segments{}) {
		return nil
	}
	v := &SegmentsView{To: s.To}
	switch {
	case s.Keep == SegmentsOff:
		v.Keep = "off"
	case s.Keep > 0:
		v.Keep = s.Keep.String()
	}
	return v
}

// CheckSegments returns an error if the settings of the segments contradict others.
func (c *Chain) CheckSegments() error {
	switch {
	case c.Segments.Enabled() && !c.WAL:
		return at(c.Origin("wal"), fmt.Errorf("segments need the write-ahead log: remove wal, or set segments.keep to off"))
	case c.Segments.Keep == SegmentsOff && c.Segments.To != "":
		return at(c.Origin("segments.to"), fmt.Errorf("segments.to with segments.keep: off: nothing would be published"))
	}
	return nil
}
