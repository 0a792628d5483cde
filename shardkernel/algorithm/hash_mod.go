package algorithm

// hashMod is the algorithm HASH_MOD: a hash of the value modulo shardingCount.
// Targets are numbered as for MOD.
//
// Properties:
//
//	shardingCount  required, as for MOD
//	hash           javaCompatible by default, or xxhash64
//	javaType       long by default, or integer; of hash javaCompatible only
//
// javaCompatible gives the node that ShardingSphere's HASH_MOD (user manual,
// "Sharding Algorithm", auto sharding) gives: the absolute value of Java's
// hashCode.
type hashMod struct {
	numbering
	hash func(Value) (uint64, error)
}

func newHashMod(props Props) (Algorithm, error) {
	r := ReadProps(props)
	h := &hashMod{numbering: numbering{count: r.Int("shardingCount", 1, maxShardingCount)}}
	h.hash, _ = readHash(r, absolute)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *hashMod) Bind(targets []string) (Sharder, error) {
	byRemainder, err := h.number(targets)
	if err != nil {
		return nil, err
	}
	return &hashModSharder{byRemainder: byRemainder, hash: h.hash}, nil
}

type hashModSharder struct {
	byRemainder []int
	hash        func(Value) (uint64, error)
}

func (s *hashModSharder) Shard(v Value) (int, error) {
	h, err := s.hash(v)
	if err != nil {
		return 0, err
	}
	return s.byRemainder[h%uint64(len(s.byRemainder))], nil
}
