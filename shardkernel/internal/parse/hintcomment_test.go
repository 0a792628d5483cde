package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

func TestHintsStandWhereverACommentStands(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1": "",
		"/* SHARDING: DATA_SOURCE=ds1 */ SELECT 1":                               "DATA_SOURCE=[ds1]",
		"SELECT /* SHARDING: ALLOW_SCATTER=true */ 1":                            "ALLOW_SCATTER=[true]",
		"SELECT 1 /*SHARDING:A=b*/":                                              "A=[b]",
		"SELECT 1 /*\n\tSHARDING:\n A = b ,\n t.x = 1 \n*/ + 2":                  "A=[b] t/x=[1]",
		"/* SHARDING: a.b.TABLE_VALUE=1 2  'x, y' '' 'it''s' */ SELECT 1":        "a.b/TABLE_VALUE=[1 2 'x, y' '' 'it's']",
		"/* SHARDING: A=1 */ SELECT /* SHARDING: B=2 */ 1":                       "A=[1] B=[2]",
		"/* SHARDINGSPHERE_HINT: t_order.SHARDING_TABLE_VALUE=1, SHADOW=true */": "foreign t_order/SHARDING_TABLE_VALUE=[1] SHADOW=[true]",
		"/* ShardingSphere hint: dataSourceName=ds_0 */ SELECT 1":                "foreign dataSourceName=[ds_0]",
		"SELECT /*! STRAIGHT_JOIN /* SHARDING: A=1 */ */ 1":                      "",
		// No hint comments.
		"SELECT '/* SHARDING: A=1 */'":              "",
		"SELECT \"/* SHARDING: A=1 */\"":            "",
		"SELECT `/* SHARDING: A=1 */` FROM t":       "",
		"SELECT 1 -- /* SHARDING: A=1 */":           "",
		"SELECT 1 # /* SHARDING: A=1 */\n":          "",
		"/* sharding: of orders, see the wiki */ 1": "",
		"/* SHARDING hint: A=1 */ SELECT 1":         "",
		"/* x SHARDING: A=1 */ SELECT 1":            "",
		"SELECT /*+ SHARDING: A=1 */ 1":             "",
		"/*! SHARDING: A=1 */ SELECT 1":             "",
	} {
		comments, err := parse.HintComments(text, dialect.MySQL)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := printHints(comments); got != want {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
}

func printHints(comments []parse.HintComment) string {
	var parts []string
	for _, c := range comments {
		if c.Foreign {
			parts = append(parts, "foreign")
		}
		for _, item := range c.Items {
			key := item.Key
			if item.Table != "" {
				key = item.Table + "/" + key
			}
			var words []string
			for _, w := range item.Words {
				text := w.Text
				if w.Quoted {
					text = "'" + text + "'"
				}
				words = append(words, text)
			}
			parts = append(parts, fmt.Sprintf("%s=%v", key, words))
		}
	}
	return strings.Join(parts, " ")
}

func TestMalformedHintCommentsAreErrorsThatNameThem(t *testing.T) {
	for text, want := range map[string]string{
		"/* SHARDING: */ SELECT 1":                          "an item is empty",
		"/* SHARDING: A=1, */ SELECT 1":                     "an item is empty",
		"/* SHARDING: A */ SELECT 1":                        "A: has no key, or no =",
		"/* SHARDING: =1 */ SELECT 1":                       "has no key, or no =",
		"/* SHARDING: A= */ SELECT 1":                       "A: has no value",
		"/* SHARDING: .A=1 */ SELECT 1":                     ".A: names no table",
		"/* SHARDING: A='1 */ SELECT 1":                     "A: has a quote that is not closed",
		"/* SHARDING: A='1'x */ SELECT 1":                   "A: has a quote that is not closed, or text behind it",
		"/* SHARDINGSPHERE_HINT: A:1 */ SELECT 1":           "A:1: has no key, or no =",
		"/* SHARDING: A=1 */ SELECT 'x":                     "a string that begins there is not closed",
		"/* SHARDING: " + strings.Repeat("é", 99) + " */ 1": "é…: has no key",
	} {
		_, err := parse.HintComments(text, dialect.MySQL)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

// FuzzHintComments: no text makes the reading of hints panic or hang, and what
// stands in no hint comment has none.
func FuzzHintComments(f *testing.F) {
	for _, seed := range []string{
		"/* SHARDING: DATA_SOURCE=ds1 */ SELECT 1",
		"SELECT 1 /*SHARDING:t.TABLE_VALUE=1 'a,b' ''''*/",
		"/* SHARDINGSPHERE_HINT: t_order.SHARDING_TABLE_VALUE=1, SHADOW=true */ SELECT 1",
		"/*!50000 /* SHARDING: A=1 */ */",
		"SELECT '/* SHARDING: A=1 */",
		"/* SHARDING: A='1", "/*/**/*/", "/* SHARDING:\xff=\x00,=,,.=' */", "/*SHARDING:0\xd5.=0",
	} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, mysql bool) {
		d := dialect.MySQL
		if !mysql {
			d = dialect.SQLite
		}
		comments, err := parse.HintComments(text, d)
		if err != nil {
			return
		}
		for _, c := range comments {
			if len(c.Items) == 0 {
				t.Errorf("%q: a hint comment without items", text)
			}
			for _, item := range c.Items {
				if item.Key == "" || item.Value == "" || len(item.Words) == 0 {
					t.Errorf("%q: an item without key or value: %+v", text, item)
				}
			}
		}
		if len(comments) > 0 && !strings.Contains(text, "/*") {
			t.Errorf("%q: hints without a comment", text)
		}
	})
}
