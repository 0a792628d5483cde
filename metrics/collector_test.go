package metrics_test

import (
	"database/sql"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/metrics"
	"github.com/gormshard/sharding/readwrite"
)

// told is a source with a status of its own.
type told sharding.Status

func (s told) Status() sharding.Status { return sharding.Status(s) }

// busy has another number in every figure.
func busy() told {
	return told{
		Generation: 3, Since: time.Unix(1000, 0), RulesVersion: 7, Fingerprint: "0123456789abcdef",
		DataSources: []sharding.DataSourceStatus{
			{
				Name: "ds0", DSN: "app:s3cret@tcp(10.0.0.1:3306)/orders", Group: "g0",
				Pool: sql.DBStats{
					MaxOpenConnections: 50, OpenConnections: 12, InUse: 4, Idle: 8, WaitCount: 5, WaitDuration: 1500 * time.Millisecond,
					MaxIdleClosed: 6, MaxIdleTimeClosed: 9, MaxLifetimeClosed: 10,
				},
			},
		},
		Groups: []sharding.GroupStatus{{
			Name: "g0", Primary: "ds0", PrimaryOnly: true,
			Replicas: []sharding.ReplicaState{
				{DataSource: "g0", Replica: "r0", Up: true, Lag: 250 * time.Millisecond, Since: time.Unix(900, 0)},
				{DataSource: "g0", Replica: "r1", Disabled: true, Reason: "s3cret", Lag: readwrite.LagUnknown, Since: time.Unix(950, 0), Outs: 2},
			},
		}},
		PlanCache: sharding.PlanCacheStatus{Plans: 11, Bytes: 4096, Compiled: 13},
		Load:      sharding.LoadStatus{Units: 3, MaxUnits: 256, MergeBytes: 100, MaxMergeBytes: 512 << 20},
		Reloads:   sharding.Reloads{Applied: 2, Failed: 1, Err: errors.New("s3cret"), LastFailure: time.Unix(1100, 500e6)},
		Draining:  1,
	}
}

func TestEveryFigureOfTheStatusIsAMetric(t *testing.T) {
	want, err := os.Open("testdata/busy.prom")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if err := testutil.CollectAndCompare(metrics.NewCollector(busy()), want); err != nil {
		t.Error(err)
	}
}

func TestMetricsFollowTheCustomsOfPrometheus(t *testing.T) {
	problems, err := testutil.CollectAndLint(metrics.NewCollector(busy()))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestNothingSecretIsShown(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics.NewCollector(busy()))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if text := family.String(); strings.Contains(text, "s3cret") || strings.Contains(text, "10.0.0.1") {
			t.Error(text)
		}
	}
}

func TestAPluginThatIsNotInUseHasNoMetrics(t *testing.T) {
	if n := testutil.CollectAndCount(metrics.NewCollector(sharding.Register(nil))); n != 0 {
		t.Errorf("%d metrics", n)
	}
}

func TestSeveralPluginsAreToldApartByALabel(t *testing.T) {
	registry := prometheus.NewRegistry()
	for _, db := range []string{"orders", "users"} {
		if err := prometheus.WrapRegistererWith(prometheus.Labels{"db": db}, registry).Register(metrics.NewCollector(busy())); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := testutil.GatherAndCount(registry, "gorm_sharding_generation"); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// The guide names each metric once.
func TestTheGuideListsEveryMetric(t *testing.T) {
	guide, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.NewCollector(busy()))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, family := range families {
		there[family.GetName()] = true
		if !strings.Contains(string(guide), "`"+family.GetName()+"`") {
			t.Errorf("%s is not in docs/metrics.md", family.GetName())
		}
	}
	for _, name := range regexp.MustCompile("gorm_sharding_[a-z_]+").FindAllString(string(guide), -1) {
		if !there[name] {
			t.Errorf("docs/metrics.md has %s, which there is not", name)
		}
	}
}
