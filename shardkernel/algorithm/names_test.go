package algorithm

import (
	"strings"
	"testing"
)

func TestNamesOfDatesGoOnOverTheYear(t *testing.T) {
	tests := []struct{ text, want string }{
		{"t_${dates('202311', '202402', 'yyyyMM')}", "t_202311 t_202312 t_202401 t_202402"},
		{"t_${dates('2023-11-01', '2024-02-29', 'yyyyMM')}", "t_202311 t_202312 t_202401 t_202402"},
		{"ds${0..1}.t_${dates('20240228', '20240301', 'yyyyMMdd')}", "ds0.t_20240228 ds0.t_20240229 ds0.t_20240301 ds1.t_20240228 ds1.t_20240229 ds1.t_20240301"},
		{"t_${dates('20231225', '20240110', 'yyyyMMdd', 7)}", "t_20231225 t_20240101 t_20240108"},
		{"t_${dates('2022', '2024', 'yyyy', 2)}", "t_2022 t_2024"},
		{"t${dates('2023-07-01', '2024-03-31', '_yyyy_QQ')}", "t_2023_03 t_2023_04 t_2024_01"},
		{"t_${dates('2024010122', '2024010201', 'yyyyMMddHH')}", "t_2024010122 t_2024010123 t_2024010200 t_2024010201"},
		{"t_${dates('202401', '202401', 'yyyyMM')}", "t_202401"},
	}
	for _, tt := range tests {
		got, err := ExpandNames(tt.text)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestDatesThatCannotBeListedAreErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"t_${dates('202413', '202501', 'yyyyMM')}", `"202413" is written neither as yyyyMM nor as yyyy-MM-dd`},
		{"t_${dates('202402', '202401', 'yyyyMM')}", "the last date is before the first"},
		{"t_${dates('202401', 'yyyyMM')}", "dates needs the first date, the last one and a pattern"},
		{"t_${dates('202401', '202402', 'YYYYMM')}", "the year is yyyy"},
		{"t_${dates('202401', '202402', 'yyyyMM', 0)}", "1 to 1000000"},
		{"t_${dates('2024-01-31', '2024-05-31', 'yyyyMM')}", "after the 28th"},
		{"t_${dates('2024', '2025', 'yyyySSS')}", "fraction of a second"},
		{"t_${dates('1000-01-01', '9999-01-01', 'yyyyMMdd')}", "more than 100000"},
		{"t_${dates('202401', '202402', 'yyyyMM') + 1}", "no ) ends dates("},
	}
	for _, tt := range tests {
		if got, err := ExpandNames(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}
