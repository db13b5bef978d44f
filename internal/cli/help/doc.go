// Package help prints the help of commands, as text that fits a terminal and as man pages, and completes command lines.
// Names, flags and usage come from the commands, descriptions and examples from help.txt.
package help
