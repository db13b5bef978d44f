package adapter

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// socks starts a SOCKS5 proxy (RFC 1928) without credentials that answers every connection with the requested address.
func socks(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				head := make([]byte, 2)
				if _, err := io.ReadFull(c, head); err != nil {
					return
				}
				_, _ = io.CopyN(io.Discard, c, int64(head[1])) // methods
				_, _ = c.Write([]byte{5, 0})
				request := make([]byte, 5)
				if _, err := io.ReadFull(c, request); err != nil || request[3] != 3 {
					return // a name is expected
				}
				rest := make([]byte, int(request[4])+2)
				if _, err := io.ReadFull(c, rest); err != nil {
					return
				}
				_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
				port := binary.BigEndian.Uint16(rest[len(rest)-2:])
				_, _ = io.WriteString(c, string(rest[:len(rest)-2])+" "+string(rune('0'+port%10)))
			}()
		}
	}()
	return l.Addr().String()
}

func TestProxyResolvesNamesAndIsNotUsedForLocalAddresses(t *testing.T) {
	dial, err := Dialer("socks5://"+socks(t), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dial(t.Context(), "tcp", "abc.onion:8333")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := io.ReadAll(c); err != nil || string(got) != "abc.onion 3" {
		t.Errorf("the proxy connected to %q, %v", got, err)
	}
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	local, err := dial(t.Context(), "tcp", here.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	local.Close()
}

func TestAddressesOfTorNeedAProxy(t *testing.T) {
	dial, err := Dialer("", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dial(t.Context(), "tcp", "abc.onion:8333")
	if err == nil || !strings.Contains(err.Error(), "abc.onion is an address of Tor: set proxy") {
		t.Errorf("without a proxy: %v", err)
	}
	for _, via := range []string{"127.0.0.1:9050", "http://127.0.0.1:9050", "socks5://127.0.0.1", "socks5://", "socks5://%zz"} {
		if _, err := Dialer(via, time.Minute); err == nil || !strings.Contains(err.Error(), "invalid proxy") {
			t.Errorf("%q: %v", via, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ended, "tcp", "127.0.0.1:1"); err == nil {
		t.Error("connected with a canceled context")
	}
}

// late is a context whose deadline has passed, and that has not ended.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }

// A caller can tell by the error of the context whether its deadline was the reason.
func TestAFailureAtTheDeadlineComesAfterIt(t *testing.T) {
	dial, err := Dialer("", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]string{{"tcp", "127.0.0.1:9"}, {"unix", t.TempDir() + "/s"}} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if _, err := dial(late{ctx}, at[0], at[1]); err == nil || ctx.Err() == nil {
			t.Errorf("%v: %v while the context has not ended", at, err)
		}
	}
}
