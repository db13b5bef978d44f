// Package settings says how Birthmark is set up: which chains, from where, into which folder, with how much memory, and what a
// server of them asks of its clients.
//
// A setting comes from the command line, else from the environment (BIRTHMARK_ and the key in capitals), else from
// the settings file, else it has a default. [Parse] reads the file: a YAML mapping in which every unknown or misplaced
// key is an error that names its line. Environment and flags are each an [Override] and go through the same readers as
// the file, so that a value is right or wrong in the same way wherever it stands.
//
// A file may list several chains. [Settings.One] picks the one a command is about and lays the overrides over it;
// [Settings.All] is for commands about all of them.
//
// One figure of memory is [Divide]d over everything that keeps memory; of several chains in one process each has its part of
// it first ([Apportion]). No other place in the program decides on it.
package config
