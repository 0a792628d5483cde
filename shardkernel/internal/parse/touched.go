package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// PrimaryKey is what stands for a primary key in DDL.Touched.
const PrimaryKey = "primary"

// touch notes names of columns, keys and constraints that the statement makes,
// changes or drops.
func (d *definer) touch(names ...string) {
	for _, name := range names {
		name, _ := d.nameOf(ast.NewCIStr(name))
		d.ddl.Touched = append(d.ddl.Touched, strings.ToLower(name))
	}
}

// touchSpec notes what one part of ALTER TABLE is about.
func (d *definer) touchSpec(s *ast.AlterTableSpec) {
	for _, c := range s.NewColumns {
		d.touch(c.Name.Name.O)
		for _, o := range c.Options {
			switch {
			case o.Tp == ast.ColumnOptionPrimaryKey:
				d.touch(PrimaryKey)
			case o.ConstraintName != "":
				d.touch(o.ConstraintName)
			}
		}
	}
	for _, c := range append(s.NewConstraints, s.Constraint) {
		switch {
		case c == nil:
		case c.Tp == ast.ConstraintPrimaryKey:
			d.touch(PrimaryKey)
		default:
			d.touch(c.Name)
		}
	}
	for _, c := range []*ast.ColumnName{s.OldColumnName, s.NewColumnName} {
		if c != nil {
			d.touch(c.Name.O)
		}
	}
	switch s.Tp {
	case ast.AlterTableAddColumns, ast.AlterTableAddConstraint, ast.AlterTableDropColumn, ast.AlterTableModifyColumn, ast.AlterTableChangeColumn,
		ast.AlterTableRenameColumn, ast.AlterTableAlterColumn, ast.AlterTableAlterCheck, ast.AlterTableDropCheck, ast.AlterTableLock, ast.AlterTableAlgorithm:
	case ast.AlterTableDropPrimaryKey:
		d.touch(PrimaryKey)
	case ast.AlterTableDropIndex, ast.AlterTableDropForeignKey:
		d.touch(s.Name)
	case ast.AlterTableRenameIndex:
		d.touch(s.FromKey.O, s.ToKey.O)
	default:
		d.ddl.Whole = true
	}
}
