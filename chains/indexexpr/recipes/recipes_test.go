package recipes

import (
	"slices"
	"testing"
)

func TestRecipesMatchTheirSection(t *testing.T) {
	const page = "# Page\n```yaml\nbefore\n```\n## One\ntext\n```yaml\na: 1\n## no heading\n```\n### Part\n```\nno yaml\n```\n```yaml\nb: 2\n```\n## Other\n```yaml\nc: 3\n```\n"
	for section, want := range map[string][]string{
		"One": {"a: 1\n## no heading\n", "b: 2\n"}, "Other": {"c: 3\n"}, "None": nil,
	} {
		if got := blocks(page, section); !slices.Equal(got, want) {
			t.Errorf("%s: %q, expected %q", section, got, want)
		}
	}
}
