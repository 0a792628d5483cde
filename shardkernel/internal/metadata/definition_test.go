package metadata

import (
	"slices"
	"strings"
	"testing"
)

// suffixed takes the number of an actual table away.
type suffixed string

func (s suffixed) Constraint(name string) string  { return strings.TrimSuffix(name, string(s)) }
func (s suffixed) Key(name string, _ bool) string { return s.Constraint(name) }
func (s suffixed) Table(name string) string       { return strings.TrimSuffix(name, string(s)) }

func TestDefinitionsOfNodesAreEqualButForNamesOfTablesAndTheOrderOfKeys(t *testing.T) {
	first := normalize("CREATE TABLE `t_0` (\n  `id` int(11) NOT NULL,\n  `KEY` int DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  KEY `a` (`KEY`),\n  KEY `fk_0` (`id`),\n"+
		"  CONSTRAINT `fk_0` FOREIGN KEY (`id`) REFERENCES `p_0` (`id`) ON DELETE CASCADE,\n  CONSTRAINT `c_0` CHECK (`id` > 0)\n) ENGINE=InnoDB AUTO_INCREMENT=12 DEFAULT CHARSET=utf8mb4", suffixed("_0"))
	second := normalize("CREATE TABLE `t_1` (\n  `id` int(11) NOT NULL,\n  `KEY` int DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  KEY `fk_1` (`id`),\n  KEY `a` (`KEY`),\n"+
		"  CONSTRAINT `c_1` CHECK (`id` > 0),\n  CONSTRAINT `fk_1` FOREIGN KEY (`id`) REFERENCES `p_1` (`id`) ON DELETE CASCADE\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", suffixed("_1"))
	if !slices.Equal(first, second) {
		t.Errorf("they differ:\n%s\n\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
	}
	want := []string{
		"`id` int(11) NOT NULL", "`KEY` int DEFAULT NULL",
		"CONSTRAINT `c` CHECK (`id` > 0)", "CONSTRAINT `fk` FOREIGN KEY (`id`) REFERENCES `p` (`id`) ON DELETE CASCADE",
		"KEY `a` (`KEY`)", "KEY `fk` (`id`)", "PRIMARY KEY (`id`)", ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
	}
	if !slices.Equal(first, want) {
		t.Errorf("got\n%s", strings.Join(first, "\n"))
	}
}

func TestTheOrderOfColumnsAndPartitionsIsPartOfADefinition(t *testing.T) {
	a := normalize("CREATE TABLE `t` (\n  `a` int,\n  `b` int\n) ENGINE=InnoDB\n PARTITION BY HASH (`a`)", suffixed(""))
	b := normalize("CREATE TABLE `t` (\n  `b` int,\n  `a` int\n) ENGINE=InnoDB\n PARTITION BY HASH (`a`)", suffixed(""))
	if slices.Equal(a, b) || a[len(a)-1] != "PARTITION BY HASH (`a`)" {
		t.Errorf("%q and %q", a, b)
	}
}
