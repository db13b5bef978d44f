package tikv

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Scheme is the scheme of the URLs of this store.
const Scheme = "tikv"

// Config is the contents of a URL: tikv://HOST:PORT,HOST:PORT/NAME?option=value
type Config struct {
	PD   []string // addresses of the placement drivers
	Name string   // of the database in the cluster

	CA, Cert, Key string        // files, for TLS
	GCLife        time.Duration // how long versions are kept; 0: another process advances the safe point
	TakeOver      bool          // replace another writer whose lease has not ended

	smallKeys, smallBytes int // largest update that is one transaction
	partKeys, partBytes   int // largest part of a large update
}

const (
	defaultGCLife     = 10 * time.Minute
	defaultSmallKeys  = 100_000
	defaultSmallBytes = 32 << 20
	defaultPartKeys   = 10_000
	defaultPartBytes  = 1 << 20
)

// ParseURL reads a URL of a database in TiKV.
func ParseURL(text string) (c Config, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return c, err
	}
	wrong := func(what string) (Config, error) {
		return Config{}, fmt.Errorf("invalid URL %q: %s: expected tikv://HOST:PORT[,HOST:PORT]/NAME", text, what)
	}
	if u.Scheme != Scheme {
		return wrong("the scheme is not tikv")
	}
	if u.User != nil || u.Fragment != "" {
		return wrong("it has a user or a fragment")
	}
	for _, host := range strings.Split(u.Host, ",") {
		if !strings.Contains(host, ":") {
			return wrong("the placement driver has no port")
		}
		c.PD = append(c.PD, host)
	}
	c.Name = strings.Trim(u.Path, "/")
	if _, err := newKeys(c.Name); err != nil {
		return wrong(err.Error())
	}
	c.smallKeys, c.smallBytes = defaultSmallKeys, defaultSmallBytes
	c.partKeys, c.partBytes = defaultPartKeys, defaultPartBytes
	c.GCLife = defaultGCLife
	for name, values := range u.Query() {
		value := values[0]
		switch name {
		case "ca":
			c.CA = value
		case "cert":
			c.Cert = value
		case "key":
			c.Key = value
		case "takeover":
			c.TakeOver = value == "true"
			if !c.TakeOver && value != "false" {
				return wrong("takeover is true or false")
			}
		case "gc":
			if value == "off" {
				c.GCLife = 0
			} else if c.GCLife, err = time.ParseDuration(value); err != nil || c.GCLife < time.Minute {
				return wrong("gc is a duration of at least 1m, or off")
			}
		default:
			return wrong(fmt.Sprintf("unknown option %q (known are ca, cert, gc, key, takeover)", name))
		}
	}
	if (c.Cert == "") != (c.Key == "") {
		return wrong("cert and key belong together")
	}
	return c, nil
}

// String is the URL without options.
func (c Config) String() string { return Scheme + "://" + strings.Join(c.PD, ",") + "/" + c.Name }
