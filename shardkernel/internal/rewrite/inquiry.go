package rewrite

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// Inquire writes the statements that an inquiry becomes, and how the names in
// their rows become those of the logical schema.
func Inquire(q *parse.Inquiry, answer *route.Answer, args []any, d *dialect.Dialect) *plan.Execution {
	ex := &plan.Execution{
		Kind: answer.Kind, Reason: answer.Reason, Query: true, Inquiry: true, Units: make([]plan.Unit, len(answer.Asking)),
		DDL: q.Kind == parse.InquiryMaintain, // which commits, as DDL does
	}
	if answer.Whole {
		ex.Units[0] = plan.Unit{DataSource: answer.Asking[0].DataSource, SQL: q.Text, Args: args}
		return ex
	}
	i := inquiry{q: q, stmt: &parse.Statement{Text: q.Text, Markers: q.Markers}, args: args, dialect: d}
	merge := &plan.Merge{}
	for n := range answer.Asking {
		a := &answer.Asking[n]
		unit := &ex.Units[n]
		unit.DataSource, unit.Table = a.DataSource, a.Table
		switch q.Kind {
		case parse.InquiryTables:
			unit.SQL = i.tables(a)
			merge.Kind, merge.OrderBy = plan.MergeOrdered, []plan.SortKey{{}}
		case parse.InquirySchemas:
			unit.SQL = i.schemas(a)
		case parse.InquirySchema, parse.InquiryCatalog:
			unit.SQL, unit.Args = i.catalog(a)
		default:
			unit.SQL, unit.Args = i.table(a)
		}
	}
	if answer.Least {
		merge.Kind, merge.Aggregates = plan.MergeGroup, []plan.Aggregate{{Func: plan.AggregateMin}}
	}
	merge.Names = i.columns(answer)
	if len(ex.Units) > 1 || len(merge.Names) > 0 {
		ex.Merge = merge
	}
	return ex
}

// inquiry writes one inquiry.
type inquiry struct {
	q       *parse.Inquiry
	stmt    *parse.Statement // for splicing alone
	args    []any
	dialect *dialect.Dialect
}

// table writes a statement about one table with the table's actual name. The
// schema is that of the data source's connections.
func (i *inquiry) table(a *route.Asking) (string, []any) {
	var edits []edit
	drop := func(s parse.Span) {
		if s.End > s.Start {
			edits = append(edits, edit{Span: s})
		}
	}
	drop(i.q.SchemaClause)
	for n := range i.q.Tables {
		t := &i.q.Tables[n]
		drop(t.Qualifier)
		if a.Table != "" && a.Table != t.Name {
			edits = append(edits, edit{Span: t.Span, text: quote(a.Table, t.Quote)})
		}
	}
	return splice(i.stmt, edits, i.args)
}

// tables writes SHOW TABLES as the query it is: the pattern is to match, and the
// order to be that of, logical names. Servers compare the bytes of both.
func (i *inquiry) tables(a *route.Asking) string {
	name := nameExpression("TABLE_NAME", a.View.Tables)
	label := "Tables_in_" + a.View.Schema.Logical
	if i.q.Like != "" {
		pattern := i.q.Like[1 : len(i.q.Like)-1]
		label += " (" + pattern + ")"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "SELECT %s AS %s", name, quote(label, '`'))
	if i.q.Full {
		b.WriteString(", TABLE_TYPE AS `Table_type`")
	}
	fmt.Fprintf(&b, " FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s", sqlText(a.View.Schema.Actual))
	if f := shown("TABLE_NAME", &a.View); f != "" {
		b.WriteString(" AND " + f)
	}
	if i.q.Like != "" {
		fmt.Fprintf(&b, " AND BINARY %s LIKE %s", name, i.q.Like)
	}
	fmt.Fprintf(&b, " ORDER BY BINARY %s", name)
	return b.String()
}

// schemas writes SHOW DATABASES as the query it is.
func (i *inquiry) schemas(a *route.Asking) string {
	name := nameExpression("SCHEMA_NAME", []route.Naming{a.View.Schema})
	label := "Database"
	if i.q.Like != "" {
		label += " (" + i.q.Like[1:len(i.q.Like)-1] + ")"
	}
	s := fmt.Sprintf("SELECT %s AS %s FROM information_schema.SCHEMATA WHERE %s", name, quote(label, '`'), shown("SCHEMA_NAME", &a.View))
	if i.q.Like != "" {
		s += fmt.Sprintf(" AND BINARY %s LIKE %s", name, i.q.Like)
	}
	return s + fmt.Sprintf(" ORDER BY BINARY %s", name)
}

// sqlText writes a text literal.
func sqlText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}
