package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// jdbcURL is a JDBC URL for MySQL or MariaDB: the driver, address, schema and
// properties. Connector/J has other forms, of several hosts among them.
var jdbcURL = regexp.MustCompile(`^jdbc:(mysql|mariadb)://([^/?@,()]*)/([^?]*)(?:\?(.*))?$`)

// noEffect are properties of the two Connector/J, in lower case, that change how
// they work and not what a Go program gets: caches, batches, reconnection, which
// database/sql does by itself, and the Java types of values, which are those of
// the model's fields here.
var noEffect = []string{
	"allowpublickeyretrieval", "alwayssendsetisolation", "autoreconnect", "autoreconnectforpools",
	"cachecallablestmts", "cacheprepstmts", "cacheresultsetmetadata", "cacheserverconfiguration",
	"connectionattributes", "defaultfetchsize", "donttrackopenresources", "dumpqueriesonexception",
	"elidesetautocommits", "enablequerytimeouts", "failoverreadonly", "generatesimpleparametermetadata",
	"gatherperfmetrics", "includeinnodbstatusindeadlockexceptions", "initialtimeout", "logger", "logslowqueries",
	"maintaintimestats", "maxreconnects", "metadatacachesize", "noaccesstoprocedurebodies", "nodatetimestringsync",
	"nullcatalogmeanscurrent", "nulldatabasemeanscurrent", "nullnamepatternmatchesall", "prepstmtcachesize",
	"prepstmtcachesqllimit", "profilesql", "rewritebatchedstatements", "tcpkeepalive", "tcpnodelay",
	"tinyint1isbit", "transformedbitisboolean", "usebulkstmts", "useconfigs", "usecursorfetch",
	"useinformationschema", "usejdbccomplianttimezoneshift", "uselegacydatetimecode", "uselocalsessionstate",
	"uselocaltransactionstate", "usereadaheadinput", "useserverprepstmts", "useunbufferedinput", "useunicode",
	"yearisdatetype", "zerodatetimebehavior",
}

// jdbc makes a data source name of a JDBC URL.
type jdbc struct {
	*faults
	path    string
	cfg     *mysql.Config
	mariadb bool
	zone    string            // of the URL
	force   bool              // whether the session has the zone, too
	values  map[string]string // of properties that have to be looked at together
}

// jdbcDSN returns the data source name in the form of Go's driver of a JDBC URL and
// of what stands beside it; empty after reporting what it cannot say.
func (f *faults) jdbcDSN(path, text, user, password string, beside map[string]string) string {
	match := jdbcURL.FindStringSubmatch(strings.TrimSpace(text))
	if match == nil {
		f.add(path, "is no JDBC URL of one MySQL or MariaDB server", "write jdbc:mysql://host:3306/schema?name=value")
		return ""
	}
	j := &jdbc{faults: f, path: path, cfg: mysql.NewConfig(), mariadb: match[1] == "mariadb", values: map[string]string{}}
	before := len(f.list)
	j.cfg.User, j.cfg.Passwd, j.cfg.Net = user, password, "tcp"
	j.cfg.Addr = address(match[2])
	j.cfg.DBName = match[3]
	if name, err := url.PathUnescape(match[3]); err == nil {
		j.cfg.DBName = name
	}
	j.cfg.ParseTime, j.cfg.ClientFoundRows, j.cfg.Loc = true, true, time.Local
	properties, err := url.ParseQuery(match[4])
	if err != nil {
		f.add(path, "has properties that cannot be read", "URL-escape their values")
		return ""
	}
	for _, name := range sortedNames(properties) {
		j.property(name, properties.Get(name))
	}
	for _, name := range sortedNames(beside) {
		j.property(name, beside[name])
	}
	j.tls()
	j.characters()
	j.location()
	if len(f.list) > before {
		return ""
	}
	dsn := j.cfg.FormatDSN()
	if back, err := mysql.ParseDSN(dsn); err != nil || back.User != j.cfg.User || back.Passwd != j.cfg.Passwd {
		f.add(path, "has a user or a schema that a DSN cannot hold", "leave : and / out of them")
		return ""
	}
	return dsn
}

// address adds MySQL's port where there is none.
func address(host string) string {
	if host == "" {
		host = "localhost"
	}
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), "3306")
}

func (j *jdbc) wrong(name, want string) {
	j.add(j.path, fmt.Sprintf("the property %s is not %s", name, want), "")
}

func (j *jdbc) flag(name, value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "1":
		return true
	case "false", "no", "0", "":
		return false
	}
	j.wrong(name, "true or false")
	return false
}

func (j *jdbc) milliseconds(name, value string) time.Duration {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		j.wrong(name, "a number of milliseconds")
	}
	return time.Duration(n) * time.Millisecond
}

// property takes one property, by a name whose case does not matter.
func (j *jdbc) property(name, value string) {
	switch lower := strings.ToLower(name); lower {
	case "user", "username":
		j.credential(name, &j.cfg.User, value)
	case "password":
		j.credential(name, &j.cfg.Passwd, value)
	case "servertimezone", "connectiontimezone", "timezone":
		j.zone = value
	case "forceconnectiontimezonetosession":
		j.force = j.flag(name, value)
	case "usessl", "requiressl", "verifyservercertificate", "sslmode",
		"characterencoding", "connectioncollation", "charactersetresults":
		j.values[lower] = value
	case "useaffectedrows":
		j.cfg.ClientFoundRows = !j.flag(name, value)
	case "allowmultiqueries":
		j.cfg.MultiStatements = j.flag(name, value)
	case "usecompression":
		j.apply(mysql.EnableCompression(j.flag(name, value)))
	case "connecttimeout":
		j.cfg.Timeout = j.milliseconds(name, value)
	case "sockettimeout":
		j.cfg.ReadTimeout = j.milliseconds(name, value)
		j.cfg.WriteTimeout = j.cfg.ReadTimeout
	case "maxallowedpacket":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 && n != -1 {
			j.wrong(name, "a number of bytes")
		} else if n > 0 {
			j.cfg.MaxAllowedPacket = n
		}
	case "sendfractionalseconds":
		if !j.flag(name, value) {
			j.apply(mysql.TimeTruncate(time.Second))
		}
	case "sessionvariables":
		j.sessionVariables(name, value)
	case "allowloadlocalinfile":
		if j.flag(name, value) {
			j.add(j.path, "the property "+name+" lets a server read files of the client", "remove it, and register the files with the Go driver's RegisterLocalFile")
		}
	default:
		if !slices.Contains(noEffect, lower) {
			j.add(j.path, fmt.Sprintf("the property %s is not known", name), "remove it if the application does not rest on it")
		}
	}
}

func (j *jdbc) apply(option mysql.Option) {
	if err := j.cfg.Apply(option); err != nil {
		j.wrap(j.path, err)
	}
}

func (j *jdbc) credential(name string, into *string, value string) {
	if *into != "" && *into != value {
		j.add(j.path, fmt.Sprintf("the property %s is another one than that beside the URL", name), "remove one of the two")
	}
	*into = value
}

// tls goes by sslMode, else by the older properties. Connector/J tries TLS by
// default, MariaDB's does not.
func (j *jdbc) tls() {
	mode := j.values["sslmode"]
	if mode == "" {
		ssl, given := j.values["usessl"]
		required, verified := j.flag("requireSSL", j.values["requiressl"]), j.flag("verifyServerCertificate", j.values["verifyservercertificate"])
		switch {
		case given && !j.flag("useSSL", ssl) || !given && j.mariadb:
			mode = "DISABLED"
		case verified:
			mode = "VERIFY_CA"
		case given || required:
			mode = "REQUIRED"
		default:
			mode = "PREFERRED"
		}
	}
	switch strings.ToUpper(strings.ReplaceAll(mode, "-", "_")) {
	case "DISABLED", "DISABLE":
	case "PREFERRED":
		j.cfg.TLSConfig, j.cfg.AllowFallbackToPlaintext = "preferred", true
	case "REQUIRED", "TRUST":
		j.cfg.TLSConfig = "skip-verify"
	case "VERIFY_CA", "VERIFY_IDENTITY", "VERIFY_FULL":
		j.cfg.TLSConfig = "true"
	default:
		j.wrong("sslMode", "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY")
	}
}

// characters refuses character sets other than UTF-8: Go's texts have no other.
func (j *jdbc) characters() {
	for _, name := range []string{"characterencoding", "charactersetresults"} {
		switch strings.ToLower(strings.ReplaceAll(j.values[name], "-", "")) {
		case "", "utf8", "utf8mb4", "null":
		default:
			j.add(j.path, fmt.Sprintf("the property %s is not UTF-8, which Go's texts are", name), "use UTF-8: the server converts")
		}
	}
	collation := j.values["connectioncollation"]
	if collation == "" && j.values["characterencoding"] == "" {
		return
	}
	charset := "utf8mb4"
	if collation != "" {
		charset, _, _ = strings.Cut(collation, "_")
	}
	if !strings.HasPrefix(charset, "utf8") {
		j.add(j.path, "the property connectionCollation is not of UTF-8, which Go's texts are", "use one of utf8mb4")
		return
	}
	j.apply(mysql.Charset(charset, collation))
}

// offset is a zone such as GMT+8 or +08:00, of whole hours.
var offset = regexp.MustCompile(`^(?:GMT|UTC)?([+-])0?(\d{1,2})(?::?00)?$`)

// location sets the zone in which times are written and read: by default that of
// the process, as with Connector/J.
func (j *jdbc) location() {
	const property = "serverTimezone"
	zone := strings.TrimSpace(j.zone)
	if strings.EqualFold(zone, "SERVER") {
		j.add(j.path, property+" is SERVER, and a DSN names the zone", "write the zone of the server, such as Asia/Shanghai")
		return
	}
	session := "'" + zone + "'"
	if strings.EqualFold(zone, "LOCAL") || zone == "" {
		zone = "Local"
	}
	// A plus in a query is a space.
	if m := offset.FindStringSubmatch(strings.ReplaceAll(strings.ToUpper(zone), " ", "+")); m != nil {
		sign := map[string]string{"+": "-", "-": "+"}[m[1]] // as POSIX counts
		session = fmt.Sprintf("'%s%02s:00'", m[1], m[2])
		zone = "Etc/GMT" + sign + m[2]
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		j.wrong(property, "a time zone that this machine knows, such as Asia/Shanghai or GMT+8")
		return
	}
	j.cfg.Loc = loc
	if !j.force {
		return
	}
	if zone == "Local" {
		j.add(j.path, "forceConnectionTimeZoneToSession needs a zone that the server knows", "name it in "+property)
		return
	}
	j.set("time_zone", session)
}

// set sets a variable of the sessions.
func (j *jdbc) set(name, value string) {
	if j.cfg.Params == nil {
		j.cfg.Params = map[string]string{}
	}
	j.cfg.Params[name] = value
}

// assignment is a session variable with its value, which may be quoted.
var assignment = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*('[^']*'|"[^"]*"|[^,;'"]*?)\s*(?:[,;]|$)`)

func (j *jdbc) sessionVariables(name, text string) {
	for text != "" {
		m := assignment.FindStringSubmatch(text)
		if m == nil {
			j.wrong(name, "a list such as sql_mode='ANSI',group_concat_max_len=4096, without @@")
			return
		}
		j.set(m[1], m[2])
		text = text[len(m[0]):]
	}
}
