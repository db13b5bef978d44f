// Package config reads the settings: the chains with their sources and folders, the memory, and the options of a
// server.
//
// A setting comes from the command line, else from the environment (BIRTHMARK_ and the key in capitals), else from the
// settings file, else it has a default. [Parse] reads the file, a YAML mapping; an unknown or misplaced key is an error
// with its line. Flags and variables are each an [Override] and use the parsers of the file.
//
// A file can list several chains. [Settings.One] selects one and applies the overrides; [Settings.All] returns all of
// them.
//
// [Apportion] divides the memory between the chains of a process and [Divide] between the parts of one chain. No other
// package decides on memory.
package config
