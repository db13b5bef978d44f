package adapter_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"birthmark/chains/adapter"
	"birthmark/model"
)

func TestFilePaths(t *testing.T) {
	for rest, want := range map[string]string{
		"": "", "/a/b": "/a/b", "localhost/a": "/a", "localhosted/a": "localhosted/a", "/a%20b": "/a b", "/a b": "/a b", "/100%": "/100%",
	} {
		if got := adapter.FilePath(rest); got != want {
			t.Errorf("file://%s is %q, expected %q", rest, got, want)
		}
	}
}

func TestLongTextsAreCutAtACharacter(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", 101), strings.Repeat("é", 200), strings.Repeat("\xff", 200)} {
		got := adapter.Truncate(text)
		if len(text) <= 100 && got != text || len(got) > 110 || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is cut to %q", text, got)
		}
	}
}

func TestFirstBlockIsFoundBetweenItsBounds(t *testing.T) {
	for first := model.HeightPk(1); first < 50; first++ {
		asked := 0
		got, err := adapter.FirstBlock(0, 100, func(h model.HeightPk) (bool, error) { asked++; return h >= first, nil })
		if err != nil || got != first || asked > 7 {
			t.Errorf("block %d after %d requests, %v: expected %d", got, asked, err, first)
		}
	}
	broken := errors.New("broken")
	if _, err := adapter.FirstBlock(0, 100, func(model.HeightPk) (bool, error) { return false, broken }); err != broken {
		t.Errorf("%v, expected %v", err, broken)
	}
}

func TestSecretsAreReadAtTheFirstUseAndAfterARefusal(t *testing.T) {
	unreadable := func(err error) error { return err }
	reads, sent := 0, []string{}
	passwords := []string{"old", "new", "new"}
	s := adapter.NewSecret("", func() (string, error) { reads++; return passwords[reads-1], nil })
	send := func(password string) error {
		sent = append(sent, password)
		if password != "new" {
			return adapter.ErrRefused
		}
		return nil
	}
	for range 2 {
		if used, err := s.Use(send, unreadable); err != nil || used != "new" {
			t.Fatalf("%q, %v", used, err)
		}
	}
	if got := strings.Join(sent, " "); got != "old new new" || reads != 2 {
		t.Errorf("sent %s after %d reads", got, reads)
	}
	refuse := func(string) error { return adapter.ErrRefused }
	if _, err := s.Use(refuse, unreadable); err != adapter.ErrRefused || reads != 3 {
		t.Errorf("%v after %d reads", err, reads)
	}
	if used, err := adapter.NewSecret("fixed", nil).Use(refuse, unreadable); err != adapter.ErrRefused || used != "fixed" {
		t.Errorf("%q, %v", used, err)
	}
}
