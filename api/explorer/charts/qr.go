package charts

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// MaxCode is the length in bytes of the longest text in a QR code: a camera does not read larger codes from a screen.
const MaxCode = 400

// quietZone is the margin of a QR code in modules (ISO/IEC 18004).
const quietZone = 4

// QR returns the QR code of a text as an SVG picture; empty if the text is too long.
func QR(text, label string) (template.HTML, error) {
	if len(text) > MaxCode {
		return "", nil
	}
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}
	var path strings.Builder // a line of width 1 through each row, whose middle is at .5
	for y := range code.Size {
		end := -1 // of the last part of the row
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			switch {
			case x == from:
				continue
			case end < 0:
				fmt.Fprintf(&path, "M%d %d.5h%d", from, y, x-from)
			default:
				fmt.Fprintf(&path, "m%d 0h%d", from-end, x-from)
			}
			end = x
		}
	}
	size := code.Size + 2*quietZone
	// #nosec G203: numbers, and an escaped label
	return template.HTML(fmt.Sprintf(`<svg class="qr" viewBox="%d %d %d %d" role="img" aria-label="%s">`+
		`<rect x="%d" y="%d" width="%d" height="%d"/><path d="%s"/></svg>`,
		-quietZone, -quietZone, size, size, template.HTMLEscapeString(label), -quietZone, -quietZone, size, size, path.String())), nil
}
