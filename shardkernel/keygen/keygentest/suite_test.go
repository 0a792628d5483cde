package keygentest_test

import (
	"testing"

	"github.com/gormshard/sharding/shardkernel/keygen"
	"github.com/gormshard/sharding/shardkernel/keygen/keygentest"
)

func TestBuiltInGeneratorsConform(t *testing.T) {
	tests := []struct {
		name     string
		typeName string
		props    keygen.Props
	}{
		{"snowflake", "SNOWFLAKE", keygen.Props{"workerId": 1}},
		{"snowflake that starts at the end", "SNOWFLAKE", keygen.Props{"workerId": 1023, "maxVibrationOffset": 4095}},
		{"uuid", "UUID", nil},
		{"uuid without dashes", "UUID", keygen.Props{"dashes": false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := keygen.NewRegistry().New(tt.typeName, tt.props)
			if err != nil {
				t.Fatal(err)
			}
			keygentest.Run(t, g)
		})
	}
}
