package keygen

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// skipTo2024 brings the clock of a synctest bubble, which starts in 2000, into
// the years of the keys.
func skipTo2024() { time.Sleep(time.Until(time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC))) }

func newTestSnowflake(t testing.TB, props Props) *snowflake {
	t.Helper()
	g, err := NewRegistry().New("snowflake", props)
	if err != nil {
		t.Fatal(err)
	}
	return g.(*snowflake)
}

func next(t testing.TB, g Generator) int64 {
	t.Helper()
	key, err := g.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return key.(int64)
}

func TestSnowflakeLaysOutItsBits(t *testing.T) {
	zone := time.FixedZone("UTC+8", 8*60*60)
	start := time.Date(2016, 11, 1, 0, 0, 0, 0, zone)
	tests := []struct {
		at       time.Time
		workerID int
		want     int64
	}{
		{start, 0, 0},
		{start, 5, 5 << 12},
		{start.Add(time.Millisecond), 0, 1 << 22},
		{start.Add(time.Second), 1023, 1000<<22 | 1023<<12},
		{time.UnixMilli(epoch + maxTime), 1023, 1<<63 - 1 - 4095},
	}
	for _, tt := range tests {
		s := newTestSnowflake(t, Props{"workerId": tt.workerID})
		s.now = (&clock{at: tt.at}).now
		if got := next(t, s); got != tt.want {
			t.Errorf("first key of worker %d at %s: %d, want %d", tt.workerID, tt.at, got, tt.want)
		}
	}
}

func TestSnowflakeCountsWithinAMillisecond(t *testing.T) {
	at := time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC)
	s := newTestSnowflake(t, Props{"workerId": 1, "maxVibrationOffset": 2})
	c := &clock{at: at}
	s.now = c.now
	var got []int64
	for range 5 { // milliseconds
		for range 2 {
			got = append(got, next(t, s)&(1<<sequenceBits-1))
		}
		at = at.Add(time.Millisecond)
		c.set(at)
	}
	for i, want := range []int64{0, 1, 1, 2, 2, 3, 0, 1, 1, 2} {
		if got[i] != want {
			t.Fatalf("sequences %v, the %d. should be %d", got, i+1, want)
		}
	}
}

// A process that makes a key now and then must fill all nodes.
func TestSnowflakeSpreadsAQuietProcessOverTheNodes(t *testing.T) {
	at := time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC)
	s := newTestSnowflake(t, Props{"workerId": 3})
	c := &clock{at: at}
	s.now = c.now
	nodes := map[int64]int{}
	for range 256 {
		nodes[next(t, s)%32]++
		at = at.Add(17 * time.Millisecond)
		c.set(at)
	}
	for n := range int64(32) {
		if nodes[n] != 8 {
			t.Errorf("node %d of 32 got %d of 256 keys, want 8", n, nodes[n])
		}
	}
}

func TestSnowflakeWaitsForTheNextMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSnowflake(t, Props{"workerId": 1})
		skipTo2024()
		start := time.Now()
		last := int64(-1)
		for range 4096*2 + 1 {
			key := next(t, s)
			if key <= last {
				t.Fatalf("key %d after %d", key, last)
			}
			last = key
		}
		// The second millisecond starts at sequence 1, so it has 4,095 keys.
		if waited := time.Since(start); waited != 2*time.Millisecond {
			t.Errorf("8,193 keys took %s, want 2ms", waited)
		}
	})
}

func TestSnowflakeWaitsForAClockThatWentBackALittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSnowflake(t, Props{"workerId": 1})
		skipTo2024()
		var back time.Duration
		s.now = func() time.Time { return time.Now().Add(-back) }
		before := next(t, s)
		start := time.Now()
		back = 10 * time.Millisecond
		after := next(t, s)
		if waited := time.Since(start); waited != back {
			t.Errorf("waited %s, want %s", waited, back)
		}
		if after <= before {
			t.Errorf("key %d after %d", after, before)
		}
	})
}

func TestSnowflakeFailsWhenTheClockWentBackFar(t *testing.T) {
	at := time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC)
	tests := []struct {
		props Props
		back  time.Duration
	}{
		{Props{"workerId": 1}, 11 * time.Millisecond},
		{Props{"workerId": 1, "maxTolerateTimeDifferenceMilliseconds": 0}, time.Millisecond},
		{Props{"workerId": 1, "maxTolerateTimeDifferenceMilliseconds": "500"}, time.Hour},
	}
	for _, tt := range tests {
		s := newTestSnowflake(t, tt.props)
		c := &clock{at: at}
		s.now = c.now
		first := next(t, s)
		c.set(at.Add(-tt.back))
		if key, err := s.Next(context.Background()); err == nil || !strings.Contains(err.Error(), "the clock went back by") {
			t.Errorf("back by %s: %v, %v", tt.back, key, err)
		}
		c.set(at)
		if again := next(t, s); again <= first {
			t.Errorf("key %d after %d once the clock was right again", again, first)
		}
	}
}

func TestSnowflakeWaitEndsWithItsContext(t *testing.T) {
	at := time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC)
	s := newTestSnowflake(t, Props{"workerId": 1})
	c := &clock{at: at}
	s.now = c.now
	next(t, s)
	c.set(at.Add(-5 * time.Millisecond))
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSnowflakeFailsOutsideItsYears(t *testing.T) {
	for _, at := range []time.Time{time.UnixMilli(epoch - 1), time.UnixMilli(epoch + maxTime + 1), {}} {
		s := newTestSnowflake(t, Props{"workerId": 1})
		s.now = (&clock{at: at}).now
		if key, err := s.Next(context.Background()); err == nil {
			t.Errorf("at %s: %v", at, key)
		}
	}
}

func TestUUIDsAreRandomOnes(t *testing.T) {
	for _, dashes := range []bool{true, false} {
		g, err := NewRegistry().New("UUID", Props{"dashes": dashes})
		if err != nil {
			t.Fatal(err)
		}
		key, err := g.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		text := key.(string)
		id, err := uuid.Parse(text)
		if err != nil || id.Version() != 4 || strings.Contains(text, "-") != dashes {
			t.Errorf("dashes %t: %q, version %d, %v", dashes, text, id.Version(), err)
		}
	}
}

func TestWrongGeneratorsAreConfigurationErrors(t *testing.T) {
	tests := []struct {
		typeName string
		props    Props
		want     string
	}{
		{"SNOWFLAK", nil, `no key generator type "SNOWFLAK"; did you mean "SNOWFLAKE"?`},
		{"SEQUENCE", nil, "known: GENE_SNOWFLAKE, NANOID, SEGMENT, SNOWFLAKE, UUID"},
		{"SNOWFLAKE", Props{"workerId": 1024}, "outside 0 to 1023"},
		{"SNOWFLAKE", Props{"workerId": -1}, "outside 0 to 1023"},
		{"SNOWFLAKE", Props{"workerNo": 1}, `did you mean "workerId"?`},
		{"SNOWFLAKE", Props{"workerId": 1, "maxVibrationOffset": 4096}, "outside 0 to 4095"},
		{"SNOWFLAKE", Props{"workerId": 1, "maxTolerateTimeDifferenceMilliseconds": "long"}, "must be an integer"},
		{"UUID", Props{"dashes": "perhaps"}, "must be true or false"},
		{"NANOID", Props{"size": 0}, "outside 1 to 255"},
		{"NANOID", Props{"size": 10}, "60 bits of randomness"},
		{"NANOID", Props{"alphabet": "a"}, "0 bits of randomness"},
		{"NANOID", Props{"alphabet": "abca"}, `the character 'a' twice`},
		{"NANOID", Props{"alphabet": "ab cd"}, `the character ' '`},
		{"NANOID", Props{"alphabet": "abcé"}, `the character 'é'`},
		{"NANOID", Props{"alphabet": 123}, "must be a text"},
		{"SEGMENT", nil, `property "table" is missing`},
		{"SEGMENT", Props{"table": strings.Repeat("t", 192)}, "longer than 191 bytes"},
		{"SEGMENT", Props{"table": "t", "step": 0}, "outside 1 to 1000000000"},
		{"SEGMENT", Props{"table": "t", "start": 0}, "outside 1 to"},
		{"UUID", Props{"workerId": 1}, `unknown property "workerId"`},
	}
	for _, tt := range tests {
		if _, err := NewRegistry().New(tt.typeName, tt.props); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%s, %v): %v, want %q", tt.typeName, tt.props, err, tt.want)
		}
	}
}

func TestRegisteredGeneratorsAreFound(t *testing.T) {
	r := NewRegistry()
	fixed := func(Props) (Generator, error) { return uuidGenerator{}, nil }
	if err := r.Register("Mine", fixed); err != nil {
		t.Fatal(err)
	}
	if _, err := r.New("MINE", nil); err != nil {
		t.Error(err)
	}
	if _, err := NewRegistry().New("MINE", nil); err == nil {
		t.Error("another registry knows the type too")
	}
	for name, f := range map[string]Factory{"uuid": fixed, "": fixed, "other": nil} {
		if err := r.Register(name, f); err == nil {
			t.Errorf("Register(%q) succeeded", name)
		}
	}
}

// As a reload that changes another property leaves two behind for a while.
func TestGeneratorsOfOneRegistryShareAConfiguredWorkerID(t *testing.T) {
	r := NewRegistry()
	make := func(typeName string, props Props) Generator {
		g, err := r.New(typeName, props)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	generators := []Generator{
		make("SNOWFLAKE", Props{"workerId": 7}), make("snowflake", Props{"worker-id": "7", "maxVibrationOffset": 1}), make("SNOWFLAKE", Props{"workerId": 8}),
	}
	seen := map[any]bool{}
	for i := range 3000 {
		key, err := generators[i%len(generators)].Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if seen[key] {
			t.Fatalf("key %d of %d is made twice", key, i)
		}
		seen[key] = true
	}
}

// BenchmarkSnowflake starts every millisecond at sequence 0 and moves the clock
// on its own, so that it never waits.
func BenchmarkSnowflake(b *testing.B) {
	s := newTestSnowflake(b, Props{"workerId": 1})
	at := time.Now()
	n := 0
	s.now = func() time.Time {
		if n++; n%1000 == 0 {
			at = at.Add(time.Millisecond)
		}
		return at
	}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
