package blockbook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"birthmark/api/compat/answertest"
	"birthmark/internal/testrun"
)

// client is a WebSocket client that sends one request after the other.
type client struct {
	t      testing.TB
	socket *websocket.Conn
	to     *answertest.Recording
	next   int
	inbox  []incoming // notifications
}

type incoming struct {
	ID   string          `json:"id"`
	Data json.RawMessage `json:"data"`
}

const patience = testrun.Patience // a test that waits longer fails

func dial(t testing.TB, s *httptest.Server) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	socket, _, err := websocket.Dial(ctx, strings.Replace(s.URL, "http", "ws", 1)+prefix+"/websocket", nil)
	if err != nil {
		t.Fatal(err)
	}
	socket.SetReadLimit(64 << 20)
	t.Cleanup(func() { socket.CloseNow() })
	return &client{t: t, socket: socket, to: answertest.NewRecording(t)}
}

func (c *client) send(text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	if err := c.socket.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next message, or the error that ended the connection.
func (c *client) read() (m incoming, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	_, text, err := c.socket.Read(ctx)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// call sends a request and returns its id and answer. Notifications before the answer go to the inbox.
func (c *client) call(method string, params any) (id, data string) {
	c.t.Helper()
	c.next++
	id = fmt.Sprint(c.next)
	request, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(string(request))
	for {
		m, err := c.read()
		if err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
		if m.ID == id {
			c.to.Add("WebSocket "+string(request), string(m.Data))
			return id, string(m.Data)
		}
		c.to.Add("notification", string(m.Data))
		c.inbox = append(c.inbox, m)
	}
}

// expect compares an answer with the expected one.
func (c *client) expect(method string, params, want any) (id string) {
	c.t.Helper()
	id, data := c.call(method, params)
	sameJSON(c.t, method, data, want)
	return id
}

func (c *client) fails(method string, params any, text string) {
	c.t.Helper()
	c.expect(method, params, object{"error": object{"message": text}})
}

// notification returns the next notification.
func (c *client) notification() incoming {
	c.t.Helper()
	if len(c.inbox) > 0 {
		m := c.inbox[0]
		c.inbox = c.inbox[1:]
		return m
	}
	m, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	c.to.Add("notification", string(m.Data))
	return m
}

// silent checks that no notification has arrived: the answer to a request follows the notifications of earlier changes.
func (c *client) silent() {
	c.t.Helper()
	c.call("ping", nil)
	if len(c.inbox) > 0 {
		c.t.Errorf("unexpected notification %s of %s", c.inbox[0].Data, c.inbox[0].ID)
	}
}

// ended checks that the server closes the connection, with a status unless that is 0.
func (c *client) ended(status websocket.StatusCode) {
	c.t.Helper()
	for {
		_, err := c.read()
		if err == nil {
			continue
		}
		if got := websocket.CloseStatus(err); status != 0 && got != status {
			c.t.Errorf("the connection ended with %v, expected %v: %v", got, status, err)
		}
		return
	}
}
