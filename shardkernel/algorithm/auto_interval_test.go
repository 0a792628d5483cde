package algorithm

import (
	"math/big"
	"strconv"
	"testing"
	"time"
)

// shardingSpherePartition is what AutoIntervalShardingAlgorithm computes, with
// decimals in the place of Java's DecimalFormat.
func shardingSpherePartition(second, length int64, partitions int) int {
	hundredths := new(big.Rat).Mul(new(big.Rat).SetFloat64(float64(second)/float64(length)), big.NewRat(100, 1))
	whole := new(big.Int).Div(hundredths.Num(), hundredths.Denom())
	switch new(big.Rat).Sub(hundredths, new(big.Rat).SetInt(whole)).Cmp(big.NewRat(1, 2)) {
	case 1:
		whole.Add(whole, big.NewInt(1))
	case 0:
		whole.Add(whole, new(big.Int).And(whole, big.NewInt(1)))
	}
	up := int((whole.Int64() + 99) / 100)
	if whole.Sign() < 0 {
		up = int(whole.Int64() / 100)
	}
	return min(max(0, up), partitions-1)
}

func TestShardingSphereRoundingIsShardingSpheres(t *testing.T) {
	lower := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, length := range []int64{1, 3, 7, 60, 100, 199, 200, 201, 400, 3600, 86_400, 31_536_000} {
		const steps = 5
		props := Props{
			"datetimeLower": lower.Format(time.DateTime), "datetimeUpper": lower.Add(time.Duration(steps*length) * time.Second).Format(time.DateTime),
			"shardingSeconds": length, "rounding": "shardingSphere",
		}
		a, err := newAutoInterval(props)
		if err != nil {
			t.Fatal(err)
		}
		partitions := a.(Counter).Shards()
		if partitions != steps+2 {
			t.Fatalf("%d seconds: %d partitions", length, partitions)
		}
		var targets []string
		for i := range partitions {
			targets = append(targets, "t_"+strconv.Itoa(i))
		}
		s := newSharder(t, "AUTO_INTERVAL", props, targets...)
		var seconds []int64
		for step := int64(-1); step <= steps+1; step++ {
			for d := int64(-2); d <= 2; d++ {
				seconds = append(seconds, step*length+d, step*length+length/200+d, step*length+length/2+d)
			}
		}
		for _, second := range seconds {
			want := shardingSpherePartition(second, length, partitions)
			if got, err := s.Shard(Time(lower.Add(time.Duration(second)*time.Second + 999_999*time.Microsecond))); second >= 0 && (err != nil || got != want) {
				t.Errorf("steps of %d seconds, second %d and a fraction: partition %d %v, want %d", length, second, got, err, want)
			}
			if got, err := s.Shard(Time(lower.Add(time.Duration(second) * time.Second))); err != nil || got != want {
				t.Errorf("steps of %d seconds, second %d: partition %d %v, want %d", length, second, got, err, want)
			}
		}
	}
}
