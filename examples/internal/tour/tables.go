package tour

import "fmt"

// Tables returns the statements that create a data source's actual tables, in
// SQL that SQLite, MariaDB and MySQL share. withSingle adds the tables that live
// in the default data source alone.
func Tables(withSingle bool) []string {
	ddl := []string{
		"CREATE TABLE t_ent_order (id bigint PRIMARY KEY, ent_id bigint NOT NULL, region_id bigint, status varchar(20), amount bigint, created_at datetime)",
		"CREATE TABLE t_ent_order_detail (order_id bigint PRIMARY KEY, ent_id bigint NOT NULL, address varchar(200))",
		"CREATE TABLE t_region (id bigint PRIMARY KEY, name varchar(50))",
	}
	for i := range 8 {
		ddl = append(ddl, fmt.Sprintf("CREATE TABLE t_ent_order_item_%d (id bigint PRIMARY KEY, ent_id bigint NOT NULL, order_id bigint, product varchar(100), price bigint, count bigint)", i))
	}
	if withSingle {
		ddl = append(ddl, "CREATE TABLE t_operator (id bigint PRIMARY KEY, name varchar(50))")
	}
	return ddl
}
