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

// The command lines of the image and of the compose files are valid, and the image keeps databases in its volume.
func TestCommandsOfTheImageAreValid(t *testing.T) {
	image := readText(t, filepath.Join("..", "..", "Dockerfile"))
	instruction := func(name string) (args []string) {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + name + ` (.*)$`).FindStringSubmatch(image)
		if len(found) == 0 {
			t.Fatalf("no %s in %s", name, image)
		}
		if err := json.Unmarshal([]byte(found[1]), &args); err != nil {
			return []string{found[1]}
		}
		return args
	}
	volume := instruction("VOLUME")[0]
	t.Setenv("XDG_DATA_HOME", strings.TrimPrefix(instruction("ENV")[0], "XDG_DATA_HOME="))
	serves := func(args []string) {
		t.Helper()
		if len(args) == 0 || args[0] != "serve" {
			t.Fatalf("%v is not a command that serves", args)
		}
		if i := slices.Index(args, "--index"); i < 0 || args[i+1] != "explorer" {
			t.Errorf("%v serves an explorer without its preset", args)
		}
		v := effective(t, args[1:]...)
		if len(v.Chains) != 1 || v.Listen != "0.0.0.0:8080" || filepath.Dir(v.Chains[0].DB) != volume || v.Chains[0].Source == "" {
			t.Errorf("%v: %+v", args, v)
		}
	}
	serves(instruction("CMD"))
	if user := instruction("USER")[0]; !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user) {
		t.Errorf("the user is %s", user)
	}
	_, check, _ := strings.Cut(instruction("HEALTHCHECK")[0], " CMD ")
	if want := `["` + instruction("ENTRYPOINT")[0] + `", "health"]`; check != want {
		t.Errorf("the health check is %s, expected %s", check, want)
	}

	files, err := filepath.Glob(filepath.Join("..", "..", "packaging", "compose", "*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var compose struct {
				Services map[string]struct {
					Image       string
					Command     []string
					Environment map[string]string
					Volumes     []string
				}
				Volumes map[string]any
			}
			if err := yaml.Unmarshal([]byte(readText(t, file)), &compose); err != nil {
				t.Fatal(err)
			}
			service := compose.Services["birthmark"]
			if service.Image != "birthmark:"+release {
				t.Errorf("the image is %s, the version %s", service.Image, release)
			}
			if len(compose.Services) != 2 || !slices.Contains(service.Volumes, "birthmark:"+volume) {
				t.Errorf("%+v", compose.Services)
			}
			for _, s := range compose.Services {
				for _, v := range s.Volumes {
					name, _, _ := strings.Cut(v, ":")
					if _, ok := compose.Volumes[name]; !ok {
						t.Errorf("the volume %s is not declared", name)
					}
				}
			}
			for name, value := range service.Environment {
				t.Setenv(name, value)
			}
			serves(service.Command)
		})
	}
}
