package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// describeDDL prints what is known of a definition.
func describeDDL(s *Statement) string {
	var b strings.Builder
	d := s.DDL
	fmt.Fprintf(&b, "%d", d.Action)
	for _, t := range s.Tables {
		b.WriteString(" " + t.Name)
	}
	if d.Temporary {
		b.WriteString("; temporary")
	}
	if d.Unnamed {
		b.WriteString("; unnamed")
	}
	for _, c := range d.Constraints {
		fmt.Fprintf(&b, "; constraint %s=%s", c.Name, s.Text[c.Start:c.End])
		if c.Index {
			b.WriteString(" (index)")
		}
		if c.Key {
			b.WriteString(" (key)")
		}
		if c.Any {
			b.WriteString(" (any)")
		}
	}
	for _, r := range d.References {
		fmt.Fprintf(&b, "; %v references %d%v", r.Columns, r.Table, r.Referenced)
		if r.OnDelete {
			b.WriteString(" on delete")
		}
		if r.OnUpdate {
			b.WriteString(" on update")
		}
	}
	for _, item := range d.Items {
		b.WriteString("; item " + s.Text[item.Start:item.End])
	}
	for name, list := range map[string][]string{"columns": d.Columns, "gone": d.Gone} {
		if list != nil {
			fmt.Fprintf(&b, "; %s %v", name, list)
		}
	}
	if d.Retyped != nil {
		fmt.Fprintf(&b, "; retyped %v", d.Retyped)
	}
	if d.Others != nil {
		fmt.Fprintf(&b, "; others %v", d.Others)
	}
	return b.String()
}

func TestDefinitionsAreRead(t *testing.T) {
	action := func(a Action) string { return fmt.Sprint(uint8(a)) }
	for sql, want := range map[string]string{
		"CREATE TABLE t_order (a int, B int)":                                       action(CreateTable) + " t_order; columns [a b]",
		"CREATE TABLE IF NOT EXISTS t_order (t_order_item int, INDEX t_order (a))":  action(CreateTable) + " t_order; columns [t_order_item]",
		"CREATE TABLE t_order LIKE t_dict":                                          action(CreateTableLike) + " t_order t_dict",
		"CREATE TABLE t_order (LIKE `t_dict`)":                                      action(CreateTableLike) + " t_order t_dict",
		"CREATE TABLE x (a int) SELECT * FROM t_order o":                            action(CreateTableSelect) + " x t_order; columns [a]",
		"CREATE TEMPORARY TABLE t_order (a int)":                                    action(CreateTable) + " t_order; temporary; columns [a]",
		"ALTER TABLE t_order DROP a, RENAME COLUMN b TO c, CHANGE d e int":          action(AlterTable) + " t_order; gone [a b d]; retyped [{e int}]",
		"ALTER TABLE t_order CHANGE d `D` varchar(20), MODIFY e decimal(3,1) FIRST": action(AlterTable) + " t_order; retyped [{d varchar} {e decimal}]",
		"ALTER TABLE t_order ADD INDEX (a)":                                         action(AlterTable) + " t_order; unnamed",
		"ALTER TABLE t_order ADD PRIMARY KEY (a), ADD UNIQUE u (b)":                 action(AlterTable) + " t_order",
		"ALTER TABLE t_order RENAME TO x":                                           action(RenameTable) + " t_order x",
		"RENAME TABLE t_order TO x, y TO t_dict":                                    action(RenameTable) + " t_order x y t_dict",
		"ALTER TABLE t_order EXCHANGE PARTITION p WITH TABLE x":                     action(AlterTable) + " t_order x; others [1]",
		"DROP TABLE IF EXISTS t_order, s.`t_dict` CASCADE":                          action(DropTable) + " t_order t_dict; item t_order; item s.`t_dict`",

		"DROP VIEW t_order":                                       action(DropView) + " t_order; item t_order",
		"TRUNCATE t_order":                                        action(TruncateTable) + " t_order",
		"CREATE INDEX i ON t_order (a DESC, b(10))":               action(CreateIndex) + " t_order",
		"DROP INDEX t_dict ON t_order":                            action(DropIndex) + " t_order; constraint t_dict=t_dict (key)",
		"CREATE VIEW v (t_dict) AS SELECT t_order.a FROM t_order": action(CreateView) + " v t_order",
		"ALTER TABLE t_order ADD CONSTRAINT `a` FOREIGN KEY i (b, c) REFERENCES t_dict (d, e) ON DELETE SET NULL": action(AlterTable) +
			" t_order t_dict; constraint a=`a`; [b c] references 1[d e] on delete",
		"CREATE TABLE t_order (a int CHECK (a > 1), b int REFERENCES t_dict (c) ON UPDATE CASCADE, CONSTRAINT k CHECK (b > 1), CONSTRAINT u UNIQUE (b))": action(CreateTable) +
			" t_order t_dict; constraint k=k; [b] references 1[c] on update; columns [a b]",
		"ALTER TABLE t_order ADD FOREIGN KEY i (b) REFERENCES t_dict (c)":                            action(AlterTable) + " t_order t_dict; constraint i=i (index); [b] references 1[c]",
		"ALTER TABLE t_order DROP FOREIGN KEY a, DROP CONSTRAINT `b`, DROP CHECK c, DROP INDEX d":    action(AlterTable) + " t_order; constraint a=a; constraint b=`b` (any); constraint c=c; constraint d=d (key)",
		"ALTER TABLE t_order ADD COLUMN c int DEFAULT 1 COMMENT 'CONSTRAINT x CHECK', ADD KEY k (c)": action(AlterTable) + " t_order",
		"CREATE OR REPLACE TABLE t_order (a int)":                                                    action(CreateTable) + " t_order; columns [a]",
		"ALTER TABLE IF EXISTS t_order DROP CONSTRAINT IF EXISTS a":                                  action(AlterTable) + " t_order; constraint a=a (any)",
	} {
		s := mustParse(t, sql)
		if got := describeDDL(s); s.Kind != KindDDL || got != want {
			t.Errorf("%s\n  got  %s\n  want %s", sql, got, want)
		}
		if err := verify(s, "x_", dialect.MySQL); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestProgramsOnConfiguredTablesAreRefused(t *testing.T) {
	for _, sql := range []string{
		"CREATE TRIGGER t BEFORE INSERT ON t_order FOR EACH ROW SET @a = 1",
		"CREATE DEFINER = CURRENT_USER PROCEDURE p() SELECT * FROM t_order",
		"CREATE OR REPLACE FUNCTION f() RETURNS int RETURN (SELECT 1 FROM t_order)",
		"DROP EVENT t_order",
	} {
		_, err := Parse(sql, testTables, dialect.MySQL)
		var facts *fault.UnsupportedError
		if !errors.As(err, &facts) || !strings.Contains(facts.Clause, "that names a sharded or broadcast table") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	mustParse(t, "CREATE INDEX event ON t_order (a)")
	mustParse(t, "CREATE TABLE t_order (`trigger` int, event int)")
}

func TestDefinesKnowsWhatCommits(t *testing.T) {
	for text, want := range map[string]bool{
		"CREATE TABLE x (a int)": true, "/* c */ DROP TABLE x": true, "TRUNCATE x": true, "ALTER USER u": true,
		"CREATE TEMPORARY TABLE x (a int)": false, "CREATE OR REPLACE TEMPORARY TABLE x (a int)": false, "SELECT 1": false, "INSERT INTO x VALUES (1)": false,
	} {
		outline, err := Scan(text, testTables, dialect.MySQL)
		if err != nil {
			t.Fatal(err)
		}
		if got := Defines(text, outline.Verb, dialect.MySQL); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
