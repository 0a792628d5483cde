package shardkernel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// commentKey is what a key of a hint comment does to hints.
type commentKey struct {
	// table is true for a key that concerns a table, whose name stands before it
	// with a dot, or every table.
	table bool
	set   func(h *Hints, t *TableHint, item *parse.HintItem, foreign bool) error
}

// ownKeys are those of /* SHARDING: … */.
var ownKeys = map[string]commentKey{
	"DATA_SOURCE":     {set: setDataSource},
	"DATABASE_VALUE":  {table: true, set: setDatabaseValue},
	"TABLE_VALUE":     {table: true, set: setTableValue},
	"ACTUAL_TABLE":    {table: true, set: setActualTable},
	"PRIMARY_ONLY":    {set: flag(func(h *Hints) { h.Reads = ReadsPrimary })},
	"REPLICA_ALLOWED": {set: flag(func(h *Hints) { h.Reads = ReadsReplica })},
	"ALLOW_SCATTER":   {set: flag(func(h *Hints) { h.AllowScatter = true })},
	"SKIP_SHARDING":   {set: flag(func(h *Hints) { h.SkipSharding = true })},
	"DISABLE_AUDIT":   {set: setDisableAudit},
}

// foreignKeys are those of /* SHARDINGSPHERE_HINT: … */.
var foreignKeys = map[string]commentKey{
	"DATA_SOURCE_NAME":        {set: setDataSource},
	"SHARDING_DATABASE_VALUE": {table: true, set: setDatabaseValue},
	"SHARDING_TABLE_VALUE":    {table: true, set: setTableValue},
	"WRITE_ROUTE_ONLY":        {set: flag(func(h *Hints) { h.Reads = ReadsPrimary })},
	"DISABLE_AUDIT_NAMES":     {set: setDisableAudit},
	"SKIP_SQL_REWRITE":        {set: flag(func(h *Hints) { h.SkipSharding = true })},
	// There is no encryption to skip, and no check of the metadata.
	"SKIP_ENCRYPT_REWRITE":   {set: flag(func(*Hints) {})},
	"SKIP_METADATA_VALIDATE": {set: flag(func(*Hints) {})},
	"SHADOW":                 {set: refuseFlag("there are no shadow databases")},
	"USE_TRAFFIC":            {set: refuseFlag("there is no traffic governance")},
}

// commentHints returns the hints in the comments of a text, nil when there are
// none.
func commentHints(text string, rules *rule.Set, d *dialect.Dialect) (*hints, error) {
	comments, err := parse.HintComments(text, d)
	if err != nil || len(comments) == 0 {
		return nil, err
	}
	h := new(Hints)
	seen := map[string]bool{}
	for i := range comments {
		c := &comments[i]
		for j := range c.Items {
			item := &c.Items[j]
			at := strings.ToLower(item.Table) + "." + canonicalKey(item.Key)
			if seen[at] {
				return nil, errHintItem(item, "stands twice", "leave one out")
			}
			seen[at] = true
			if err := addItem(h, item, c.Foreign); err != nil {
				return nil, err
			}
		}
		// ShardingSphere would send the text to the nodes of the logical table.
		if c.Foreign && h.SkipSharding && !h.Direct {
			return nil, fault.Unsupported("hint comment, SKIP_SQL_REWRITE", "it does not say to which data source the text goes as it is",
				"add DATA_SOURCE_NAME, or write /* SHARDING: SKIP_SHARDING=true */ for the default data source")
		}
	}
	return resolveHints(h, rules)
}

func addItem(h *Hints, item *parse.HintItem, foreign bool) error {
	keys := ownKeys
	if foreign {
		keys = foreignKeys
	}
	name := canonicalKey(item.Key)
	key, ok := keys[name]
	if !ok {
		var names []string
		for known := range keys {
			names = append(names, known)
		}
		return errHintItem(item, "is no key of a hint", nearest.Hint(name, names))
	}
	if !key.table && item.Table != "" {
		return errHintItem(item, "concerns no table", "write the key alone")
	}
	var t *TableHint
	if key.table {
		t = h.table(item.Table)
	}
	return key.set(h, t, item, foreign)
}

// canonicalKey brings dataSourceName and data_source_name to DATA_SOURCE_NAME, and
// skipSQLRewrite to SKIP_SQL_REWRITE, as ShardingSphere takes both.
func canonicalKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		switch {
		case isUpper(c):
			if i > 0 && (isLower(key[i-1]) || isUpper(key[i-1]) && i+1 < len(key) && isLower(key[i+1])) {
				b.WriteByte('_')
			}
		case isLower(c):
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// table returns the hints of a table, new ones if there are none.
func (h *Hints) table(logical string) *TableHint {
	if logical == "" {
		logical = AllTables
	}
	for i := range h.Tables {
		if strings.EqualFold(h.Tables[i].Logical, logical) {
			return &h.Tables[i]
		}
	}
	h.Tables = append(h.Tables, TableHint{Logical: logical})
	return &h.Tables[len(h.Tables)-1]
}

func setDataSource(h *Hints, _ *TableHint, item *parse.HintItem, _ bool) error {
	name, err := oneWord(item)
	h.Direct, h.DataSource = true, name
	return err
}

func setDatabaseValue(_ *Hints, t *TableHint, item *parse.HintItem, foreign bool) error {
	t.Database = hintValues(item, foreign)
	return nil
}

func setTableValue(_ *Hints, t *TableHint, item *parse.HintItem, foreign bool) error {
	if t.HasActual {
		return errHintItem(item, "stands beside an actual table", "leave one out")
	}
	t.Table = hintValues(item, foreign)
	return nil
}

func setActualTable(_ *Hints, t *TableHint, item *parse.HintItem, _ bool) error {
	switch {
	case item.Table == "":
		return errHintItem(item, "names no logical table", "write it before the key, as in t_order.ACTUAL_TABLE=t_order_3")
	case t.Table != nil:
		return errHintItem(item, "stands beside a value for the table", "leave one out")
	}
	name, err := oneWord(item)
	t.HasActual, t.Actual = true, name
	return err
}

// setDisableAudit takes names of audits, or true for all.
func setDisableAudit(h *Hints, _ *TableHint, item *parse.HintItem, foreign bool) error {
	if b, err := strconv.ParseBool(item.Value); err == nil && !foreign {
		h.AuditOff = b
		return nil
	}
	h.AuditOff = true
	for _, w := range item.Words {
		h.Audits = append(h.Audits, w.Text)
	}
	return nil
}

// flag is a key that is true or false, and says nothing when it is false.
func flag(set func(*Hints)) func(*Hints, *TableHint, *parse.HintItem, bool) error {
	return func(h *Hints, _ *TableHint, item *parse.HintItem, _ bool) error {
		b, err := isTrue(item)
		if b {
			set(h)
		}
		return err
	}
}

// refuseFlag is a key of ShardingSphere's that cannot be honoured.
func refuseFlag(reason string) func(*Hints, *TableHint, *parse.HintItem, bool) error {
	return func(_ *Hints, _ *TableHint, item *parse.HintItem, _ bool) error {
		b, err := isTrue(item)
		if b {
			return errHintItem(item, "is not supported: "+reason, "leave it out")
		}
		return err
	}
}

func isTrue(item *parse.HintItem) (bool, error) {
	switch {
	case strings.EqualFold(item.Value, "true"):
		return true, nil
	case strings.EqualFold(item.Value, "false"):
		return false, nil
	}
	return false, errHintItem(item, "is neither true nor false", "")
}

func oneWord(item *parse.HintItem) (string, error) {
	if len(item.Words) != 1 {
		return "", errHintItem(item, fmt.Sprintf("has %d values", len(item.Words)), "give one")
	}
	return item.Words[0].Text, nil
}

// hintValues returns the sharding values of an item: integers, and else texts.
// ShardingSphere's keys have one value each, which may hold spaces.
func hintValues(item *parse.HintItem, foreign bool) []any {
	if foreign {
		return []any{hintValue(item.Value)}
	}
	values := make([]any, len(item.Words))
	for i, w := range item.Words {
		if w.Quoted {
			values[i] = w.Text
		} else {
			values[i] = hintValue(w.Text)
		}
	}
	return values
}

func hintValue(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return text
}

func errHintItem(item *parse.HintItem, reason, remedy string) error {
	key := item.Key
	if item.Table != "" {
		key = item.Table + "." + key
	}
	return fault.Unsupported("hint comment, "+shorten(key), reason, remedy)
}

// maxQuotedKey bounds what an error quotes of a comment.
const maxQuotedKey = 60

func shorten(key string) string {
	if len(key) <= maxQuotedKey {
		return key
	}
	return strings.ToValidUTF8(key[:maxQuotedKey], "") + "…"
}
