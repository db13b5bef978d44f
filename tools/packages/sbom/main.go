// Command sbom adds the C and C++ libraries of a release to its software bill of materials. It reads the document that
// cyclonedx-gomod wrote from standard input and prints the complete one:
//
//	sbom < modules.json "rocksdb 7.8.3-2 Apache-2.0 pkg:deb/debian/rocksdb@7.8.3-2" …
//
// Each argument has the name, the version, the SPDX expression of the license and the package URL of a library.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Stdin, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, libraries []string) error {
	bom := cyclonedx.NewBOM()
	if err := cyclonedx.NewBOMDecoder(in, cyclonedx.BOMFileFormatJSON).Decode(bom); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	if bom.Metadata == nil || bom.Metadata.Component == nil || bom.Components == nil || bom.Dependencies == nil {
		return fmt.Errorf("the document has no program, components or dependencies")
	}
	for _, library := range libraries {
		c, err := component(library)
		if err != nil {
			return err
		}
		*bom.Components = append(*bom.Components, c)
		for i, d := range *bom.Dependencies {
			if d.Ref == bom.Metadata.Component.BOMRef {
				*d.Dependencies = append(*d.Dependencies, c.BOMRef)
				(*bom.Dependencies)[i] = d
			}
		}
		*bom.Dependencies = append(*bom.Dependencies, cyclonedx.Dependency{Ref: c.BOMRef})
	}
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// component returns the component of an argument. The expression of the license can contain spaces.
func component(library string) (cyclonedx.Component, error) {
	words := strings.Fields(library)
	if len(words) < 4 || !strings.HasPrefix(words[len(words)-1], "pkg:") {
		return cyclonedx.Component{}, fmt.Errorf("%q: expected NAME VERSION LICENSE PURL", library)
	}
	purl := words[len(words)-1]
	return cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: words[0], Version: words[1],
		Scope:      cyclonedx.ScopeRequired,
		Licenses:   &cyclonedx.Licenses{{Expression: strings.Join(words[2:len(words)-1], " ")}},
		PackageURL: purl,
	}, nil
}
