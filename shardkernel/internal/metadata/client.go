package metadata

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
)

// Client is what the DSN of a MySQL data source asks of the driver, as far as it
// changes answers or how arguments are sent.
type Client struct {
	DataSource string
	Schema     string
	// Location is the zone in which times are written and read.
	Location *time.Location
	// TimeTruncate is the unit to which times are cut before they are sent; 0
	// for none.
	TimeTruncate time.Duration
	// InterpolateParams makes the driver write arguments into the text.
	InterpolateParams bool
	// MultiStatements lets the server take several statements in one string.
	MultiStatements bool

	parseTime, clientFoundRows bool
	collation, charset         string
}

// ParseClient reads the DSN of the data source. Its error, a *fault.ConfigError,
// shows nothing of the DSN.
func ParseClient(dataSource, dsn string) (Client, error) {
	path := "dataSources." + dataSource + ".dsn"
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		// The driver's error may quote a piece of the DSN, and a password with
		// reserved characters in it ends up in any piece.
		return Client{}, &fault.ConfigError{Path: path, Reason: "the MySQL driver cannot read it", Remedy: "write user:password@tcp(host:3306)/schema?name=value, with the values URL-escaped"}
	}
	if cfg.ColumnsWithAlias {
		return Client{}, &fault.ConfigError{Path: path, Reason: "columnsWithAlias puts the names of actual tables before the columns' names", Remedy: "leave it out"}
	}
	c := Client{
		DataSource: dataSource, Schema: cfg.DBName, Location: cfg.Loc, InterpolateParams: cfg.InterpolateParams, MultiStatements: cfg.MultiStatements,
		parseTime: cfg.ParseTime, clientFoundRows: cfg.ClientFoundRows, collation: cfg.Collation,
	}
	// Two settings have no exported field; the driver writes them out.
	if _, text, ok := strings.Cut(afterSlash(cfg.FormatDSN()), "?"); ok {
		params, err := url.ParseQuery(text)
		if err != nil {
			return Client{}, &fault.ConfigError{Path: path, Reason: "its parameters cannot be read", Remedy: "URL-escape their values"}
		}
		c.charset = params.Get("charset")
		if unit := params.Get("timeTruncate"); unit != "" {
			if c.TimeTruncate, err = time.ParseDuration(unit); err != nil {
				return Client{}, &fault.ConfigError{Path: path, Reason: "timeTruncate is not a duration", Remedy: "write such as timeTruncate=1ms"}
			}
		}
	}
	return c, nil
}

// afterSlash returns what stands behind the address and the slash: no parameter
// or schema has an unescaped slash.
func afterSlash(dsn string) string { return dsn[strings.LastIndexByte(dsn, '/')+1:] }

// shown is a parameter in an error, where nothing would be read as a gap.
func shown(value any) any {
	if value == "" {
		return "not set"
	}
	return value
}

// Equal reports, as a *fault.ConfigError, what differs between c and the client
// settings of another data source. All of it must be equal: the same row would
// be read, or the same argument written, in two ways.
func (c Client) Equal(other Client) error {
	var diff []string
	differ := func(what string, mine, theirs any) {
		if mine != theirs {
			diff = append(diff, fmt.Sprintf("%s is %v here and %v in %s", what, shown(mine), shown(theirs), other.DataSource))
		}
	}
	differ("parseTime", c.parseTime, other.parseTime)
	differ("loc", c.Location.String(), other.Location.String())
	differ("timeTruncate", c.TimeTruncate, other.TimeTruncate)
	differ("interpolateParams", c.InterpolateParams, other.InterpolateParams)
	differ("charset", c.charset, other.charset)
	differ("collation", c.collation, other.collation)
	differ("clientFoundRows", c.clientFoundRows, other.clientFoundRows)
	if len(diff) == 0 {
		return nil
	}
	return &fault.ConfigError{Path: "dataSources." + c.DataSource + ".dsn", Reason: strings.Join(diff, ", "), Remedy: "use the same parameters in every data source"}
}
