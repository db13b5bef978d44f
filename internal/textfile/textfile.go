// Package textfile reads files that people write, such as passwords and keys: editors and shells add a byte order mark,
// line breaks of Windows and white space around the text.
package textfile

import (
	"bytes"
	"fmt"
	"os"
)

// Read returns the text of a file without a byte order mark and without white space around it. UTF-16 is an error that
// names the file.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s is UTF-16: save it as UTF-8", path)
	}
	return bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))), nil
}
