//go:build unix

package stream_test

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkScatter reads the rows of sixteen nodes and, in turns with it, the same
// rows from one table, without the plugin, over the same driver: by a scan of that
// table, and by the same statement. scan-ratio and same-ratio are the medians of
// the plugin's times over those.
func BenchmarkScatter(b *testing.B) {
	c := sharedCluster(b)
	a := c.open(b, c.config(tables, 2*tables))
	pool := openPool(b, c.dsn(0))
	if _, err := pool.ExecContext(b.Context(), "CREATE OR REPLACE TABLE t_all (id bigint NOT NULL PRIMARY KEY, g int NOT NULL, name varchar(40), pad varchar(100)) ENGINE = MyISAM"); err != nil {
		b.Fatal(err)
	}
	for d := range databases {
		for n := range tables {
			if _, err := pool.ExecContext(b.Context(), fmt.Sprintf("INSERT INTO t_all SELECT * FROM %s.t_row_%d", c.database(d), n)); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, bench := range []struct{ name, query string }{
		{"iterate", "SELECT * FROM %s"},
		{"ordered", "SELECT * FROM %s ORDER BY id"},
		{"ordered by text", "SELECT * FROM %s ORDER BY name, id"},
		{"grouped", "SELECT g, COUNT(*), SUM(id) FROM %s GROUP BY g"},
		{"paged", fmt.Sprintf("SELECT * FROM %%s ORDER BY id LIMIT 20 OFFSET %d", c.rows/2)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			same := fmt.Sprintf(bench.query, "t_all")
			runs := []func() (*sql.Rows, error){
				func() (*sql.Rows, error) { return pool.Query("SELECT * FROM t_all") },
				func() (*sql.Rows, error) { return pool.Query(same) },
				func() (*sql.Rows, error) { return a.Raw(fmt.Sprintf(bench.query, "t_row")).Rows() },
			}
			var took [3][]time.Duration
			for b.Loop() {
				for i, run := range runs {
					start := time.Now()
					if _, err := count(run()); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			var median [3]float64
			for i := range took {
				slices.Sort(took[i])
				median[i] = took[i][len(took[i])/2].Seconds()
			}
			b.ReportMetric(float64(c.rows)/median[2], "rows/s")
			b.ReportMetric(float64(c.rows)/median[0], "scan-rows/s")
			b.ReportMetric(median[2]/median[0], "scan-ratio")
			b.ReportMetric(median[2]/median[1], "same-ratio")
			b.ReportMetric(0, "ns/op") // of all three together: means nothing
		})
	}
}
