package shardkernel

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// settable are the variables that a session may set. None of them changes how a
// statement must be read or how the rows of several nodes make one result, but
// time_zone, which the planner asks the session for.
var settable = []string{
	"time_zone",
	"foreign_key_checks", "unique_checks", "check_constraint_checks", "sql_safe_updates", "sql_warnings", "sql_notes", "low_priority_updates",
	// Only the answer of GROUP_CONCAT, which no two nodes give together.
	"group_concat_max_len",
	"transaction_isolation", "transaction_read_only",
	// How long and how much: an error, never another answer.
	"innodb_lock_wait_timeout", "lock_wait_timeout", "wait_timeout", "net_read_timeout", "net_write_timeout",
	"max_statement_time", "max_execution_time", "max_join_size", "cte_max_recursion_depth",
	// How fast.
	"optimizer_switch", "optimizer_search_depth", "optimizer_prune_level", "optimizer_use_condition_selectivity", "eq_range_index_dive_limit",
	"join_buffer_size", "sort_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "tmp_table_size", "max_heap_table_size", "bulk_insert_buffer_size",
	"lc_messages", "profiling", "long_query_time", "innodb_strict_mode",
}

// unsettable are variables that are often set, and why they may not be.
var unsettable = map[string][2]string{
	"autocommit":              {"statements outside a transaction would leave one open on several nodes", "begin a transaction"},
	"sql_mode":                {"statements would be read by other rules than those they are routed by", setInDSN},
	"timestamp":               {"NOW() would differ from the time that is used for routing", "pass the time as a parameter"},
	"insert_id":               {"the next INSERT may go to another data source", "insert the value"},
	"last_insert_id":          {"the next statement may go to another data source", "pass the value as a parameter"},
	"identity":                {"the next statement may go to another data source", "pass the value as a parameter"},
	"div_precision_increment": {"the averages of several nodes are computed with the value the servers were checked for", setInDSN},
	"sql_select_limit":        {"every node would cut its own rows", "use LIMIT"},
	"max_sort_length":         {"the rows of several nodes are put in order by the value the servers were checked for", setInDSN},
	"max_error_count":         {"warnings are not collected over several nodes", setInDSN},
}

const setInDSN = "set it in the DSN of every data source"

// canonical is the one name of a variable that has several.
func canonical(name string) string {
	switch name {
	case "tx_isolation":
		return "transaction_isolation"
	case "tx_read_only":
		return "transaction_read_only"
	}
	return name
}

// checkAssignment refuses an assignment that a session may not make.
func checkAssignment(a *parse.Assign) error {
	if a.User {
		if !a.Constant {
			return fault.Unsupported("SET @"+a.Name, "its value is no constant, and would be computed on every node", "pass values as parameters, or assign it in a statement on one node")
		}
		return nil
	}
	clause, name := "SET "+a.Name, canonical(a.Name)
	if why, ok := unsettable[name]; ok {
		return fault.Unsupported(clause, why[0], why[1])
	}
	switch {
	case !slices.Contains(settable, name):
		reason := "it is not known to leave the answers of several nodes as they are"
		if strings.HasPrefix(name, "character_set_") || strings.HasPrefix(name, "collation_") {
			reason = "texts would be compared and sent by other rules than those the data sources were checked for"
		}
		return fault.Unsupported(clause, reason, setInDSN)
	case !a.Constant:
		return fault.Unsupported(clause, "its value is no constant, so that the servers may differ", "write the value itself")
	case !a.Scoped && strings.HasPrefix(name, "transaction_"):
		return fault.Unsupported(clause, "without SESSION it holds for the next transaction alone", "use SET SESSION TRANSACTION, or begin the transaction with the option")
	}
	return nil
}

// checkGlobal refuses to set, for all connections to come, what the connections
// that are there were compared by.
func checkGlobal(a *parse.Assign) error {
	name := canonical(a.Name)
	_, refused := unsettable[name]
	switch {
	case refused, name == "time_zone", strings.HasPrefix(name, "character_set_"), strings.HasPrefix(name, "collation_"),
		name == "group_concat_max_len", name == "transaction_isolation", name == "sql_auto_is_null", name == "default_time_zone":
		return fault.Unsupported("SET GLOBAL "+a.Name, "connections opened later would answer otherwise than those that were checked", "set it in the DSN of every data source, or on the servers before the start")
	}
	return nil
}
