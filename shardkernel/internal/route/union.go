package route

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// ununited are the features that a derived table in the place of a table would
// not allow or would give another meaning.
const ununited = parse.FeatureLocking | parse.FeaturePartition | parse.FeatureIndexHint | parse.FeatureMatch | parse.FeatureInto | parse.FeatureUserVariable |
	parse.FeatureFoundRows | parse.FeatureLastInsertID | parse.FeatureLock | parse.FeatureNestedCTE |
	parse.FeatureAggregateMember

// RouteUnited finds the one unit of a SELECT whose nodes are all in one data
// source: in the place of a table that needs several of them, the server reads
// the UNION ALL of its actual tables, whatever the shape of the statement. It
// returns nil when there is no such unit, or when a table would need more than
// most branches; the statement then stays refused as Route refused it.
func (p *Program) RouteUnited(in *Input, most int) (*Result, error) {
	stmt := p.stmt
	if stmt.Kind != parse.KindSelect || len(p.refs) == 0 || stmt.Features&ununited != 0 {
		return nil, nil
	}
	if sameName(stmt.Tables) {
		return nil, nil
	}
	if len(stmt.Defaults) > 0 { // the columns of a derived table have none
		return nil, nil
	}
	if p.rounds(in) || p.ShowsBits(in.Meta) != "" || p.mixesMembers(in.Meta) || p.mixesRows(in) || p.MixesTiny(in.Meta) {
		return nil, nil
	}
	if p.checkTypes(in.Meta) != nil { // the sets may rely on what it refuses
		return nil, nil
	}
	e := newEvaluation(p, in)
	sets, err := p.nodeSets(&e, nil)
	if err != nil {
		return nil, err
	}
	source := p.single
	for i, set := range sets {
		for n := set.next(0); n >= 0; n = set.next(n + 1) {
			if s := p.refs[i].rule.Nodes[n].DataSource; source == "" {
				source = s
			} else if source != s {
				return nil, nil
			}
		}
	}
	if source == "" {
		return nil, nil
	}
	result := newOneUnit(len(stmt.Tables))
	result.Kind, result.Reason = plan.KindUnited, "all nodes are in data source "+source+", which reads the tables of each as one"
	u := &result.unit[0]
	u.DataSource, u.Order, u.Node = source, p.orderOf(source), -1
	u.Unions = make([]Union, len(stmt.Tables))
	for i, r := range p.refs {
		var names []string
		for n := range r.rule.Nodes {
			node := &r.rule.Nodes[n]
			// Of a table that no row is asked of, any node does.
			if sets[i].has(n) || sets[i].empty() && node.DataSource == source && len(names) == 0 {
				names = append(names, node.Table)
			}
		}
		switch {
		case len(names) == 0 || len(names) > most:
			return nil, nil
		case len(names) == 1:
			u.Names[r.table] = names[0]
		default:
			columns := p.unionColumns(in.Meta.table(r.rule.Name))
			if columns == nil {
				return nil, nil
			}
			u.Unions[r.table] = Union{Tables: names, Columns: columns}
		}
	}
	return &result.Result, nil
}

// sameName reports whether two tables of a scope have one name. The server refuses
// them, but not a derived table beside another table.
func sameName(tables []parse.TableRef) bool {
	name := func(t *parse.TableRef) string {
		if t.Alias != "" {
			return t.Alias
		}
		return t.Name
	}
	for i := range tables {
		for j := range tables[:i] {
			if tables[i].Scope == tables[j].Scope && name(&tables[i]) == name(&tables[j]) {
				return true
			}
		}
	}
	return false
}

// rounds reports whether a server may round a constant of an equality to the type
// of the column where it looks it up in an index: 8.5 finds 9, which it does not
// where a table has no index, such as a derived one, nor by the key that it makes for
// such a table itself. Measured on MariaDB 10.11.
func (p *Program) rounds(in *Input) bool {
	return slices.ContainsFunc(p.stmt.Equated, func(e parse.Equated) bool {
		digits := e.Digits
		if e.Param >= len(in.Args) {
			return true
		} else if e.Param >= 0 {
			digits = digitsOf(in.Args[e.Param])
		}
		return digits > 0 && !p.exactly(e.Column, digits, in.Meta)
	})
}

// mixesMembers reports whether something is compared with the rows of a set operation
// whose branches give values of different types. A server compares it with the values
// of each branch, or with what the set operation makes of them, by its plan: a number
// beside dates and numbers then equals other rows. Measured on MariaDB 10.11.
func (p *Program) mixesMembers(meta Meta) bool {
	return slices.ContainsFunc(p.stmt.Members, func(pair parse.ColumnPair) bool {
		a, b := p.known(pair.A, meta), p.known(pair.B, meta)
		return a == nil || b == nil || a.Type != b.Type || a.Collation != b.Collation
	})
}

// known returns what is known of a column of a table, nil when nothing is.
func (p *Program) known(c parse.Column, meta Meta) *value.Column {
	if c.Table < 0 {
		return nil
	}
	logical, _ := p.Logical(c.Table)
	return meta.column(logical, c.Name)
}

// exactly reports whether no index rounds a constant of so many digits behind the
// point that is equated with a column.
func (p *Program) exactly(c parse.Column, digits int, meta Meta) bool {
	stmt := p.stmt
	if c.Table == parse.NoTable || slices.Contains(stmt.Linked, c.Name) || slices.Contains(stmt.Linked, "*") || slices.Contains(stmt.Shown, c.Name) {
		return false
	}
	// Behind a derived table the column may be equated under another name.
	if stmt.Features&(parse.FeatureDerived|parse.FeatureCTE) != 0 &&
		(stmt.Features&parse.FeatureUnion != 0 || slices.Contains(stmt.Renamed, c.Name) || slices.Contains(stmt.Renamed, "*")) {
		return false
	}
	found := false
	for i := range stmt.Tables {
		if c.Table != parse.AnyTable && c.Table != i {
			continue
		}
		logical, _ := p.Logical(i)
		known, ok := meta.table(logical).Column(c.Name)
		if !ok {
			continue
		}
		found = true
		if !known.Unindexed && known.Class != value.ClassText && (known.Class != value.ClassDecimal || digits > known.Scale) {
			return false
		}
	}
	return found
}

// digitsOf returns no fewer digits than an argument may have behind the point.
func digitsOf(arg any) int {
	v := reflect.ValueOf(arg)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return 0
	case v.CanFloat():
		if v.Float() == math.Trunc(v.Float()) {
			return 0
		}
		return math.MaxInt
	case v.Kind() == reflect.String:
		return parse.Digits(v.String())
	case v.CanConvert(bytesType):
		return parse.Digits(string(v.Convert(bytesType).Bytes()))
	}
	if t, ok := v.Interface().(time.Time); ok && t.Nanosecond() != 0 {
		return math.MaxInt
	}
	return 0
}

var bytesType = reflect.TypeFor[[]byte]()

// unionColumns returns the columns of a table that a UNION ALL leaves what they
// are, in their order; nil when the statement may need others.
func (p *Program) unionColumns(t *value.Table) []string {
	if t == nil {
		return nil
	}
	// One found too many, in a text or a comment, refuses what could have been
	// answered, no more.
	text := strings.ToLower(p.stmt.Text)
	star := p.stmt.Features&parse.FeatureStar != 0
	// MIN and MAX of a TEXT are a MEDIUMTEXT there. Measured on MariaDB 10.11.
	extreme := strings.Contains(text, "min") || strings.Contains(text, "max")
	columns := make([]string, 0, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		switch named := strings.Contains(text, c.Name); {
		case named && extreme && c.Unbounded():
			return nil
		case named && !p.travels(c):
			return nil
		case named && c.MixesInSort(text): // and the order of rows is another one
			return nil
		case c.SurvivesUnion() && !c.Invisible:
			columns = append(columns, c.Name)
		case named && c.SurvivesUnion() && !star:
			columns = append(columns, c.Name)
		case named, star && !c.Invisible:
			return nil
		}
	}
	return columns
}

// travels reports whether a column means the same in another table than its own. An
// index compares a BIT with a constant text in another way, and MIN and MAX of groups
// show it as a number or as bytes by the plan, and a DECIMAL with ZEROFILL with its
// zeros or without. Measured on MariaDB 10.11.
func (p *Program) travels(c *value.Column) bool {
	stmt := p.stmt
	switch {
	case c.Class == value.ClassBit && !c.Unindexed:
		return false
	case c.Class != value.ClassBit && !c.Filled():
		return true
	}
	if len(stmt.Extremes) == 0 || p.ExtremesAreNumbers() {
		return true
	}
	if slices.Contains(stmt.Extremes, c.Name) || slices.Contains(stmt.Renamed, c.Name) || slices.Contains(stmt.Renamed, "*") {
		return false // by another name it may be an argument of theirs
	}
	return stmt.Features&parse.FeatureUnion == 0 || stmt.Features&(parse.FeatureDerived|parse.FeatureCTE) == 0
}

// ExtremesOfYears reports whether the argument of a MIN or MAX has a YEAR in it. Of an
// expression over one it is an INT where a server keeps groups in a table of its own,
// and a BIGINT elsewhere. Measured on MariaDB 10.11.
func (p *Program) ExtremesOfYears(meta Meta) bool {
	return len(p.stmt.Extremes) > 0 && slices.ContainsFunc(p.refs, func(r *reference) bool {
		t := meta.table(r.rule.Name)
		return t == nil || slices.ContainsFunc(t.Columns, func(c value.Column) bool {
			return c.Class == value.ClassYear && slices.Contains(p.stmt.Extremes, c.Name)
		})
	})
}

// ExtremesAreNumbers reports whether MIN and MAX of a BIT are shown as numbers, and
// those of a DECIMAL with ZEROFILL without its zeros, whatever the plan is: their results are in no temporary table.
func (p *Program) ExtremesAreNumbers() bool {
	const nested = parse.FeatureDerived | parse.FeatureCTE | parse.FeatureUnion | parse.FeatureWindow | parse.FeatureSubquery
	s := p.stmt.Select
	return s != nil && len(s.GroupBy) == 0 && p.stmt.Features&nested == 0 && !strings.Contains(strings.ToLower(p.stmt.Text), "sql_buffer_result")
}
