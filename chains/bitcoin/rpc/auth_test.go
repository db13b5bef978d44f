package rpc

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// cookie is a password function that counts its calls.
type cookie struct {
	mu    sync.Mutex
	text  string
	err   error
	asked int
}

func (k *cookie) ask() (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	return k.text, k.err
}

func (k *cookie) set(text string, err error) (asked int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	asked, k.asked = k.asked, 0
	k.text, k.err = text, err
	return asked
}

func TestRejectedCredentials(t *testing.T) {
	f := newFake(t, 3)
	f.set(func() { f.auth = "user:" + password })
	text := func(s string) func() (string, error) { return (&cookie{text: s}).ask }
	for _, q := range []struct {
		user string
		ask  func() (string, error)
		says string // empty: accepted
	}{
		{"user:" + password + "@", nil, ""},
		{"user:" + password + "@", text("another:one"), ""},
		{"user@", text(password), ""},
		{"user@", text(password + "\r\n"), ""},
		{"", text("user:" + password + "\n"), ""},
		{"other@", text("user:" + password), ""},
		{"user:wrong@", text("user:" + password), `wrong password for user "user" of NODE (a node's cookie changes when it restarts)`},
		{"user@", text("wrong"), `wrong password for user "user" of NODE`},
		{"", text("__cookie__:77"), `wrong password for user "__cookie__" of NODE`},
		{"user@", nil, `no password for user "user" of NODE`},
		{"user@", text(""), `no password for user "user" of NODE`},
		{"", nil, "NODE requires a user and a password: expected http://USER:PASSWORD@HOST, or the node's cookie as password file"},
		{"", text(""), "NODE requires a user and a password"},
	} {
		c := f.client(q.user, func(o *Options) { o.Password = q.ask })
		_, err := c.Tip(t.Context())
		if q.says == "" && err != nil {
			t.Errorf("%s: %v", q.user, err)
		}
		if q.says != "" {
			expect(t, err, "unauthorized", false, strings.ReplaceAll(q.says, "NODE", c.Host()))
		}
	}
}

func TestPasswordIsReadWhenNeeded(t *testing.T) {
	f := newFake(t, 3)
	k := &cookie{text: "user:" + password}
	c := f.client("", func(o *Options) { o.Password = k.ask })
	if k.asked != 0 {
		t.Error("the password was read before any request")
	}
	f.set(func() { f.rest, f.auth = true, k.text })
	if _, err := c.Raw(t.Context(), f.points(0, 3), 1<<40); err != nil || k.asked != 0 {
		t.Errorf("the password was read %d times for REST, which does not need it: %v", k.asked, err)
	}
	f.set(func() { f.rest = false })
	for range 5 {
		if _, err := c.Raw(t.Context(), f.points(0, 3), 1<<40); err != nil || k.asked != 1 {
			t.Errorf("the password was read %d times: %v", k.asked, err)
		}
	}
}

// A node that restarts has a new cookie. The file is missing until the node writes it.
func TestCookieIsReadAgainAfterARejection(t *testing.T) {
	f := newFake(t, 50)
	f.set(func() { f.auth = "__cookie__:one" })
	k := &cookie{text: f.auth}
	c := f.client("", func(o *Options) { o.Password = k.ask })
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}

	f.set(func() { f.auth = "__cookie__:two" })
	k.set("__cookie__:two", nil)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := c.Raw(t.Context(), f.points(1, 20), 1<<40); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := k.set("__cookie__:two", nil); n != 1 {
		t.Errorf("six rejected calls read the cookie %d times", n)
	}

	f.set(func() { f.auth = "__cookie__:three" })
	_, err := c.Tip(t.Context())
	expect(t, err, "unauthorized", true, `wrong password for user "__cookie__" of `+c.Host())
	if n := k.set("", errors.New("open .cookie: no such file")); n == 0 {
		t.Error("the cookie was not read again")
	}
	if _, err := c.Tip(t.Context()); !blocksource.IsTemporary(err) || err.Error() != "the password for "+c.Host()+": open .cookie: no such file" {
		t.Errorf("a missing cookie: %v", err)
	}
	k.set("__cookie__:three", nil)
	if tip, err := c.Tip(t.Context()); err != nil || tip != f.point(49) {
		t.Errorf("the tip is %v, %v", tip, err)
	}
}

func TestUnreadablePasswordIsAnError(t *testing.T) {
	f := newFake(t, 3)
	f.set(func() { f.auth = "user:" + password })
	for _, q := range []struct {
		k    *cookie
		kind model.ErrorKind
		says string
	}{
		{&cookie{err: model.Errorf(model.Usage, "bad_setting", "password_file: no such file")}, model.Usage, "the password for NODE: password_file: no such file"},
		{&cookie{text: password}, model.Usage, "the password for NODE: the node's password has no user: expected http://USER@HOST"},
	} {
		c := f.client("", func(o *Options) { o.Password = q.k.ask })
		_, err := c.Tip(t.Context())
		says := strings.ReplaceAll(q.says, "NODE", c.Host())
		if kind, _ := model.KindOf(err); err == nil || kind != q.kind || blocksource.IsTemporary(err) || !strings.HasPrefix(err.Error(), says) || strings.Contains(err.Error(), password) {
			t.Errorf("%v, expected %s", err, says)
		}
	}
}

// A node with REST needs no password. When REST is disabled, the source uses JSON-RPC with the password, and back.
func TestRESTMayBeEnabledAndDisabled(t *testing.T) {
	all := map[string]func(*fake, *Client) error{
		"tip":    func(f *fake, c *Client) error { _, err := c.Tip(f.t.Context()); return err },
		"hashes": func(f *fake, c *Client) error { _, err := c.Hashes(f.t.Context(), 1, 30); return err },
		"above":  func(f *fake, c *Client) error { _, err := c.Hashes(f.t.Context(), 100, 30); return err },
		"raw": func(f *fake, c *Client) error {
			blocks, err := c.Raw(f.t.Context(), f.points(1, 30), 1<<40)
			if err == nil {
				err = sameBlocks(blocks, f.chain[1:31])
			}
			return err
		},
		"changed": func(f *fake, c *Client) error { return c.Changed(f.t.Context(), f.point(3)) },
	}
	for name, call := range all {
		f := newFake(t, 40)
		f.btcd = len(name)%2 == 0 // the kind of node without REST
		f.set(func() { f.auth = "user:" + password })
		with, without := f.client("user:"+password+"@", nil), f.client("", nil)
		f.set(func() { f.rest = true })
		for _, c := range []*Client{with, without} {
			f.asked()
			if err := call(f, c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if asked := f.asked(); slices.ContainsFunc(asked, func(s string) bool { return !strings.HasPrefix(s, "/rest/") }) {
				t.Errorf("%s: requests %q to a node with REST", name, asked)
			}
		}
		f.set(func() { f.rest = false })
		if err := call(f, with); err != nil {
			t.Errorf("%s: without REST, with a password: %v", name, err)
		}
		f.asked()
		if err := call(f, with); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if asked := f.asked(); slices.ContainsFunc(asked, func(s string) bool { return !strings.HasPrefix(s, "POST") }) {
			t.Errorf("%s: requests %q to a node without REST", name, asked)
		}
		expect(t, call(f, without), "unauthorized", false, "requires a user and a password")
		f.set(func() { f.rest = true })
		if err := call(f, without); err != nil {
			t.Errorf("%s: with REST again: %v", name, err)
		}
	}
}
