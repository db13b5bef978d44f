package cli

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The command lines of the image and of compose.yaml are valid, and the image keeps databases in its volume.
func TestCommandsOfTheImageAreValid(t *testing.T) {
	image := readText(t, filepath.Join("..", "..", "Dockerfile"))
	command := func(text string) (args []string) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return args
	}
	var compose struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(readText(t, filepath.Join("..", "..", "compose.yaml"))), &compose); err != nil {
		t.Fatal(err)
	}
	service := compose.Services["birthmark"]
	if service.Image != "birthmark:"+release {
		t.Errorf("the image is %s, the version %s", service.Image, release)
	}
	lines := regexp.MustCompile(`(?m)^CMD (.*)$`).FindStringSubmatch(image)
	volume := regexp.MustCompile(`(?m)^VOLUME (.*)$`).FindStringSubmatch(image)
	data := regexp.MustCompile(`(?m)^ENV XDG_DATA_HOME=(.*)$`).FindStringSubmatch(image)
	if len(lines) == 0 || len(volume) == 0 || len(data) == 0 {
		t.Fatalf("no command, volume or data folder in %s", image)
	}
	t.Setenv("XDG_DATA_HOME", data[1])
	for name, value := range service.Environment {
		t.Setenv(name, value)
	}
	for _, args := range [][]string{command(lines[1]), service.Command} {
		if len(args) == 0 || args[0] != "serve" {
			t.Fatalf("%v is not a command that serves", args)
		}
		if i := slices.Index(args, "--index"); i < 0 || args[i+1] != "explorer" {
			t.Errorf("%v serves an explorer without its preset", args)
		}
		v := effective(t, args[1:]...)
		if len(v.Chains) != 1 || v.Listen != "0.0.0.0:8080" || filepath.Dir(v.Chains[0].DB) != volume[1] || v.Chains[0].Source == "" {
			t.Errorf("%v: %+v", args, v)
		}
	}
	check := regexp.MustCompile(`(?s)HEALTHCHECK [^\[]* CMD (\[.*?\])\n`).FindStringSubmatch(image)
	if len(check) == 0 {
		t.Fatal("no health check")
	}
	if args := command(strings.ReplaceAll(check[1], "\\\n", "")); len(args) != 3 || !strings.Contains(args[2], "/dev/tcp/127.0.0.1/8080") {
		t.Errorf("health check %q", args)
	}
}
