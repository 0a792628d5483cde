package config

import "testing"

func TestUnknownKeysAndWrongTypesAreReportedAtOnce(t *testing.T) {
	_, err := Parse([]byte(`
datasources: {}
colour: red
dataSources: {ds0: {dsn: 5, maxOpenConn: 3, maxIdleConns: many, connMaxLifetime: 30}, ds1: x}
schema: [a]
rulesVersion: 1.5
sharding:
  tables:
    t_order: {actualDataNodes: [ds0.t_order], tableStrategy: {none: {a: 1}}, databaseStrategy: {none: 1}}
  bindingTables: "a,b"
  broadcastTables: {a: b}
  algorithms: {a: {type: OWN, props: [1]}}
transaction: {implicit: yes}
props: {sqlShow: 1, maxMergeRows: "5", maxMergeBytes: 18446744073709551615, statementTimeout: true}
`), "yaml")
	wantFaults(t, err,
		"dataSources.ds0.dsn: must be a text, not a whole number",
		"dataSources.ds0.maxIdleConns: must be a whole number, not a text",
		"dataSources.ds0.connMaxLifetime: must be a duration with its unit, such as 30s, 5m or 1h, not a whole number",
		`dataSources.ds0.maxOpenConn: unknown key; did you mean "maxOpenConns"?`,
		"dataSources.ds1: must be a map, not a text",
		"schema: must be a text, not a list",
		"rulesVersion: must be a whole number, not a number with a fraction",
		"sharding.tables.t_order.actualDataNodes: must be a text, not a list",
		"sharding.tables.t_order.databaseStrategy.none: must be {}, not a whole number",
		"sharding.tables.t_order.tableStrategy.none.a: unknown key",
		"sharding.bindingTables: must be a list, not a text",
		"sharding.broadcastTables: must be a list, not a map",
		"sharding.algorithms.a.props: must be a map, not a list",
		"transaction.implicit: must be true or false, not a text",
		"props.sqlShow: must be true or false, not a whole number",
		"props.maxMergeRows: must be a whole number, not a text",
		"props.maxMergeBytes: the number is too large",
		"props.statementTimeout: must be a duration with its unit, such as 30s, 5m or 1h, not true or false",
		"colour: unknown key; known: dataSources, defaultDataSource, schema, rulesVersion, sharding, rules, database, readwriteSplitting, transaction, idLease, props",
		`datasources: unknown key; did you mean "dataSources"?`,
	)
}

func TestWhatIsNotImplementedIsRefused(t *testing.T) {
	_, err := Parse([]byte(`
dataSources: {ds0: {dsn: x}}
sharding:
  tables:
    t_order:
      actualDataNodes: ds0.t_order
    t_item:
      actualDataNodes: ds0.t_item
      databaseStrategy: {standard: {column: a, algorithm: own}, textKey: exact}
      tableStrategy: {standard: {column: a, algorithm: own}, textKey: exakt}
  broadcastCheck: {interval: 5s}
  algorithms: {own: {type: OWN}}
transaction: {type: XA, xa: {cluster: orders}}
`), "yaml")
	wantFaults(t, err,
		"sharding.broadcastCheck.interval: is not supported yet; remove it",
		"transaction.xa: is not supported yet; remove it",
		`sharding.tables.t_item.tableStrategy.textKey: no such choice "exakt"; use refuse, binary, exact or weight`,
		"transaction.type: XA is not supported yet; use LOCAL",
	)
}

func TestEmptySectionsOfLaterVersionsAskNothing(t *testing.T) {
	_, err := Parse([]byte(`
readwriteSplitting: {groups: {}}
idLease:
rules: []
sharding: {autoTables: {}, broadcastCheck: {interval: 0}, defaults: {audit: []}}
transaction: {xa: }
props: {primaryOnly: false}
`), "yaml")
	wantFaults(t, err)
}

func TestJSONFilesMayNameTheirSchema(t *testing.T) {
	_, err := Parse([]byte(`{"$schema": "https://example.com/sharding.schema.json", "rulesVersion": 1}`), "json")
	wantFaults(t, err)
}
