package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// describeCommand writes a command for the tables of this file.
func describeCommand(c *Command) string {
	if c == nil {
		return "none"
	}
	if c.Err != nil {
		return "refused"
	}
	var b strings.Builder
	b.WriteString([]string{"set", "global", "next", "begin", "commit", "rollback", "savepoint", "rollback to", "release", "use", "account", "server"}[c.Kind])
	if c.Name != "" {
		b.WriteString(" " + c.Name)
	}
	if c.Chain {
		b.WriteString(" chain")
	}
	if c.Transaction.Isolation != "" {
		b.WriteString(" " + c.Transaction.Isolation)
	}
	if c.Transaction.ReadOnly != nil {
		fmt.Fprintf(&b, " readonly=%t", *c.Transaction.ReadOnly)
	}
	for _, a := range c.Set {
		fmt.Fprintf(&b, " [%s: %s", a.Name, a.Text)
		if a.User {
			b.WriteString(" user")
		}
		if a.Scoped && c.Kind == CommandSet {
			b.WriteString(" scoped")
		}
		if !a.Constant {
			b.WriteString(" varies")
		}
		if a.Params > 0 {
			fmt.Fprintf(&b, " %d from %d", a.Params, a.First)
		}
		b.WriteString("]")
	}
	if g := c.Grant; g != nil {
		fmt.Fprintf(&b, " on %q.%q", g.Schema, g.Table)
		switch {
		case g.AllSchemas:
			b.WriteString(" schemas")
		case g.AllTables:
			b.WriteString(" tables")
		case g.Routine:
			b.WriteString(" routine")
		}
	}
	return b.String()
}

func TestCommandsAreReadFromTheirWords(t *testing.T) {
	for text, want := range map[string]string{
		"BEGIN": "begin", "begin work;": "begin", "BEGIN NOT ATOMIC SELECT 1": "refused",
		"START TRANSACTION": "begin", "start transaction read only": "begin readonly=true",
		"START TRANSACTION READ WRITE": "begin readonly=false", "START TRANSACTION WITH CONSISTENT SNAPSHOT": "refused",
		"START TRANSACTION READ ONLY, READ WRITE,": "begin readonly=false",
		"COMMIT": "commit", "COMMIT WORK AND CHAIN": "commit chain", "COMMIT AND NO CHAIN NO RELEASE": "commit", "COMMIT RELEASE": "refused", "COMMIT PREPARED": "refused",
		"ROLLBACK": "rollback", "ROLLBACK WORK": "rollback", "ROLLBACK AND CHAIN": "rollback chain", "ROLLBACK RELEASE": "refused",
		"SAVEPOINT sp1": "savepoint sp1", "savepoint `a b` ;": "savepoint `a b`", "SAVEPOINT savepoint": "savepoint savepoint",
		"ROLLBACK TO SAVEPOINT sp1": "rollback to sp1", "/* c */ rollback work to sp1": "rollback to sp1", "ROLLBACK TO SAVEPOINT": "rollback to SAVEPOINT",
		"RELEASE SAVEPOINT sp1": "release sp1", "RELEASE sp1": "refused",
		"SAVEPOINT": "refused", "SAVEPOINT a b": "refused", "SAVEPOINT 'a'": "refused", "SAVEPOINT a; SELECT 1": "refused",
		"COMMIT; SELECT 1": "refused", "XA START 'x'": "refused",
		"USE shop": "use shop", "use `shop`;": "use shop", "USE": "refused", "USE a.b": "refused",

		"SET foreign_key_checks = 0":                            "set [foreign_key_checks: SESSION foreign_key_checks = 0]",
		"SET FOREIGN_KEY_CHECKS = 0;":                           "set [foreign_key_checks: SESSION foreign_key_checks = 0]",
		"set session time_zone := '+05:00', @a = ?":             "set [time_zone: SESSION time_zone = '+05:00' scoped] [a: @a = ? user 1 from 0]",
		"SET @@session.sql_mode='', @@LOCAL.x=1":                "set [sql_mode: SESSION sql_mode = '' scoped] [x: SESSION x = 1 scoped]",
		"SET @@time_zone = DEFAULT":                             "set [time_zone: SESSION time_zone = DEFAULT varies]",
		"SET @old = @@foreign_key_checks":                       "set [old: @old = @@foreign_key_checks user varies]",
		"SET @a = (SELECT MAX(a) FROM t_order), @b = 60 * -(2)": "set [a: @a = (SELECT MAX(a) FROM t_order) user varies] [b: @b = 60 * -(2) user]",
		"SET @`A b` = NOW()":                                    "set [a b: @`A b` = NOW() user varies]",
		"SET SESSION a = 1, b = 2":                              "set [a: SESSION a = 1 scoped] [b: SESSION b = 2 scoped]",
		"SET GLOBAL a = 1, b = 2":                               "global [a: ] [b: ]",
		"SET @@global.a = ?, @@persist.b = ?":                   "global [a:  1 from 0] [b:  1 from 1]",
		"SET GLOBAL a = 1, @b = 2":                              "refused",
		"SET a = 1, GLOBAL b = 2":                               "refused",
		"SET a":                                                 "refused",
		"SET a =":                                               "refused",
		"SET a = , b = 1":                                       "refused",
		"SET":                                                   "refused",
		"SET @@nonsense.a = 1":                                  "refused",
		"SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY":         "next READ COMMITTED readonly=true",
		"set session transaction isolation level serializable":              "set SERIALIZABLE [transaction_isolation: SESSION TRANSACTION isolation level serializable scoped]",
		"SET LOCAL TRANSACTION READ ONLY, ISOLATION LEVEL REPEATABLE  READ": "set REPEATABLE READ readonly=true [transaction_read_only: SESSION TRANSACTION READ ONLY scoped] [transaction_isolation: SESSION TRANSACTION ISOLATION LEVEL REPEATABLE  READ scoped]",
		"SET GLOBAL TRANSACTION READ WRITE":                                 "global readonly=false [transaction_read_only: SESSION TRANSACTION READ WRITE]",
		"SET TRANSACTION ISOLATION LEVEL SNAPSHOT":                          "refused",
		"SET NAMES utf8mb4":      "refused",
		"SET CHARACTER SET utf8": "refused",
		"SET CHARSET utf8":       "refused",
		"SET ROLE admin":         "refused",
		"SET STATEMENT max_statement_time = 1 FOR SELECT 1": "refused",
		"SET PASSWORD FOR a@b = 'x'":                        "account",
		"SET DEFAULT ROLE x TO y":                           "account",
		"CREATE USER 'a'@'%' IDENTIFIED BY 'x'":             "account",
		"CREATE OR REPLACE ROLE a":                          "account",
		"ALTER USER a IDENTIFIED BY 'x'":                    "account",
		"DROP USER IF EXISTS a":                             "account",
		"RENAME USER a TO b":                                "account",
		"CREATE TABLE user (id int)":                        "none",
		"DROP TABLE role":                                   "none",
		"GRANT admin TO a":                                  "account",
		"GRANT ALL ON *.* TO a":                             `account on "".""` + " schemas",
		"GRANT SELECT (`to`), UPDATE(b) ON TABLE shop.t_order TO a@localhost": `account on "shop"."t_order"`,
		"GRANT SELECT ON `table` TO a":                                        `account on ""."table"`,
		"GRANT SELECT ON table.x TO a":                                        `account on "table"."x"`,
		"REVOKE ALL ON `sh\\_op`.* FROM a":                                    `account on "sh\\_op".""` + " tables",
		"GRANT INSERT ON * TO a":                                              `account on "".""` + " tables",
		"GRANT EXECUTE ON PROCEDURE p TO a":                                   `account on ""."p" routine`,
		"GRANT PROXY ON a TO b":                                               "account",
		"REVOKE ALL PRIVILEGES, GRANT OPTION FROM a":                          "account",
		"GRANT SELECT ON a.b.c TO d":                                          "refused",
		"GRANT SELECT":                                                        "refused",
		"FLUSH PRIVILEGES":                                                    "account",
		"FLUSH LOCAL PRIVILEGES":                                              "account",
		"FLUSH LOGS":                                                          "server",
		"FLUSH TABLES":                                                        "server",
		"FLUSH TABLES WITH READ LOCK":                                         "refused",
		"FLUSH TABLES t_order":                                                "refused",
		"KILL QUERY 5":                                                        "server", "SHUTDOWN": "server", "RESET MASTER": "server", "START SLAVE": "server", "CHANGE MASTER TO MASTER_HOST='x'": "server",
		"PREPARE s FROM 'SELECT 1'": "refused", "EXECUTE IMMEDIATE 'SELECT 1'": "refused", "DEALLOCATE PREPARE s": "refused", "HANDLER t OPEN": "refused", "GET DIAGNOSTICS @a = ROW_COUNT": "refused",
		"LOCK TABLES a READ": "none", "LOCK INSTANCE FOR BACKUP": "refused", "BACKUP STAGE START": "refused",
		"LOAD DATA INFILE 'x' INTO TABLE t": "none", "LOAD INDEX INTO CACHE t": "server",
		"SELECT 1": "none", "": "none", "UPDATE t SET a = 1": "none",
	} {
		outline, err := Scan(text, testTables, dialect.MySQL)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := describeCommand(ReadCommand(text, outline.Verb, dialect.MySQL)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	if got := describeCommand(ReadCommand("RELEASE sp1", "RELEASE", dialect.SQLite)); got != "release sp1" {
		t.Errorf("SQLite's RELEASE: %s", got)
	}
}

func TestGrantObjectIsFoundInTheText(t *testing.T) {
	for text, want := range map[string]string{
		"GRANT SELECT ON t_order TO a":              "t_order",
		"GRANT SELECT ON TABLE `shop` . t_order TO": "`shop` . t_order",
		"REVOKE ALL ON *.* FROM a":                  "*.*",
		"REVOKE ALL ON shop.* FROM a":               "shop.*",
	} {
		c := ReadCommand(text, strings.Fields(text)[0], dialect.MySQL)
		if c.Grant == nil {
			t.Errorf("%s: %+v", text, c)
			continue
		}
		if got := text[c.Grant.Object.Start:c.Grant.Object.End]; got != want {
			t.Errorf("%s: object %q, want %q", text, got, want)
		}
	}
}

func TestRefusedCommandsShowNoValues(t *testing.T) {
	for _, text := range []string{
		"SET PASSWORD = 's3cret'; SELECT 1", "SET x = 's3cret' 's3cret', y", "GRANT SELECT ON 's3cret' TO a IDENTIFIED BY 's3cret'", "EXECUTE IMMEDIATE 's3cret'", "COMMIT 's3cret'",
		"SET NAMES 's3cret'",
	} {
		c := ReadCommand(text, strings.Fields(text)[0], dialect.MySQL)
		if c == nil || c.Err == nil || strings.Contains(c.Err.Error(), "s3cret") {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func TestUsesOfTheSessionAreFound(t *testing.T) {
	names := []string{"lock", "lock state", "previous", "last id", "set id", "read @", "set @", "into @", "temporary", "lock tables", "unlock tables", "call"}
	for text, want := range map[string]string{
		"SELECT GET_LOCK('a', 1)":                                   "lock",
		"DO release_all_locks ()":                                   "lock",
		"SELECT IS_FREE_LOCK('a')":                                  "lock state",
		"SELECT get_lock FROM t":                                    "",
		"SELECT 'GET_LOCK(', /* FOUND_ROWS() */ 1":                  "",
		"SELECT FOUND_ROWS()":                                       "previous",
		"SELECT row_count()":                                        "previous",
		"SHOW TABLES LIKE 'warnings'":                               "",
		"SELECT @@warning_count, @@session.error_count":             "previous",
		"SELECT LAST_INSERT_ID()":                                   "last id",
		"INSERT INTO t VALUES (last_insert_id ( ))":                 "last id",
		"SELECT @@identity":                                         "last id",
		"UPDATE seq SET id = LAST_INSERT_ID(id + 1)":                "set id",
		"SELECT last_insert_id FROM t":                              "",
		"SELECT @a":                                                 "read @",
		"@.":                                                        "read @",
		"SELECT @a.b := @`A.B`, @'x' + @x":                          "read @,set @",
		"SELECT @a := 1, @A + 1":                                    "set @",
		"SELECT @r := @r + 1 FROM t, (SELECT @r := 0) x":            "set @",
		"SELECT @a := @b":                                           "read @,set @",
		"SELECT a, b FROM t INTO @a, @b":                            "set @,into @",
		"SELECT a INTO @a FROM t WHERE x = @y":                      "read @,set @,into @",
		"SELECT a INTO OUTFILE 'x' FROM t":                          "",
		"CREATE TEMPORARY TABLE x (a int)":                          "temporary",
		"CREATE OR REPLACE TEMPORARY TABLE x SELECT @a":             "temporary",
		"DROP TEMPORARY TABLE x":                                    "temporary",
		"CREATE TABLE temporary (a int)":                            "",
		"CREATE PROCEDURE p() SELECT FOUND_ROWS(), @a":              "",
		"CREATE DEFINER=root@localhost VIEW v AS SELECT 1":          "",
		"LOCK TABLES a WRITE":                                       "lock tables",
		"UNLOCK TABLES":                                             "unlock tables",
		"CALL p(@x)":                                                "call",
		"SELECT @@time_zone":                                        "",
		"INSERT INTO t (a) VALUES (1)":                              "",
		"SELECT /*! SQL_CALC_FOUND_ROWS */ LAST_INSERT_ID() FROM t": "last id",
	} {
		outline, err := Scan(text, testTables, dialect.MySQL)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got []string
		for i, name := range names {
			if outline.Uses&(1<<i) != 0 {
				got = append(got, name)
			}
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
