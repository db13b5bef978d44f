package onesat_test

import (
	"testing"

	"birthmark/internal/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m) }
