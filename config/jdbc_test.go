package config

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestJDBCPropertiesKeepTheirMeaning(t *testing.T) {
	const base = "u:p@tcp(h:3306)/d?"
	for _, test := range []struct{ name, url, want string }{
		{"the defaults of Connector/J", "jdbc:mysql://h/d", base + "allowFallbackToPlaintext=true&clientFoundRows=true&loc=Local&parseTime=true&tls=preferred"},
		{"the defaults of MariaDB's", "jdbc:mariadb://h/d", base + "clientFoundRows=true&loc=Local&parseTime=true"},
		{"changed rows", "jdbc:mariadb://h/d?useAffectedRows=true", base + "loc=Local&parseTime=true"},
		{
			"what is usual", "jdbc:mysql://h:3306/d?useUnicode=true&characterEncoding=utf8&useSSL=false&serverTimezone=GMT%2B8&zeroDateTimeBehavior=convertToNull&tinyInt1isBit=false&allowMultiQueries=true&rewriteBatchedStatements=true&allowPublicKeyRetrieval=true&autoReconnect=true",
			base + "clientFoundRows=true&charset=utf8mb4&loc=Etc%2FGMT-8&multiStatements=true&parseTime=true",
		},
		{"a zone by name, in the session too", "jdbc:mariadb://h/d?connectionTimeZone=Asia/Shanghai&forceConnectionTimeZoneToSession=true", base + "clientFoundRows=true&loc=Asia%2FShanghai&parseTime=true&time_zone=%27Asia%2FShanghai%27"},
		{"an offset in the session", "jdbc:mariadb://h/d?serverTimezone=%2B08:00&forceConnectionTimeZoneToSession=true", base + "clientFoundRows=true&loc=Etc%2FGMT-8&parseTime=true&time_zone=%27%2B08%3A00%27"},
		{"a plus that was not escaped", "jdbc:mariadb://h/d?serverTimezone=GMT+8", base + "clientFoundRows=true&loc=Etc%2FGMT-8&parseTime=true"},
		{"west", "jdbc:mariadb://h/d?serverTimezone=UTC-05:00", base + "clientFoundRows=true&loc=Etc%2FGMT%2B5&parseTime=true"},
		{"the zone of the process", "jdbc:mariadb://h/d?serverTimezone=LOCAL", base + "clientFoundRows=true&loc=Local&parseTime=true"},
		{"TLS without a look at the certificate", "jdbc:mysql://h/d?useSSL=true", base + "clientFoundRows=true&loc=Local&parseTime=true&tls=skip-verify"},
		{"TLS with one", "jdbc:mysql://h/d?useSSL=true&verifyServerCertificate=true", base + "clientFoundRows=true&loc=Local&parseTime=true&tls=true"},
		{"TLS by its mode", "jdbc:mysql://h/d?sslMode=VERIFY_CA", base + "clientFoundRows=true&loc=Local&parseTime=true&tls=true"},
		{"TLS by MariaDB's mode", "jdbc:mariadb://h/d?sslMode=verify-full", base + "clientFoundRows=true&loc=Local&parseTime=true&tls=true"},
		{"a collation", "jdbc:mariadb://h/d?connectionCollation=utf8mb4_unicode_ci", base + "clientFoundRows=true&charset=utf8mb4&collation=utf8mb4_unicode_ci&loc=Local&parseTime=true"},
		{"timeouts", "jdbc:mariadb://h/d?connectTimeout=3000&socketTimeout=60000", base + "clientFoundRows=true&loc=Local&parseTime=true&readTimeout=1m0s&timeout=3s&writeTimeout=1m0s"},
		{"sizes", "jdbc:mariadb://h/d?maxAllowedPacket=1024&useCompression=true&sendFractionalSeconds=false", base + "clientFoundRows=true&compress=true&loc=Local&parseTime=true&timeTruncate=1s&maxAllowedPacket=1024"},
		{"session variables", "jdbc:mariadb://h/d?sessionVariables=sql_mode%3D'STRICT_TRANS_TABLES,NO_ZERO_DATE',group_concat_max_len%3D4096", base + "clientFoundRows=true&loc=Local&parseTime=true&group_concat_max_len=4096&sql_mode=%27STRICT_TRANS_TABLES%2CNO_ZERO_DATE%27"},
		{"IPv6", "jdbc:mariadb://[::1]/d", strings.Replace(base, "h:3306", "[::1]:3306", 1) + "clientFoundRows=true&loc=Local&parseTime=true"},
		{"no host", "jdbc:mariadb:///d", strings.Replace(base, "h:", "localhost:", 1) + "clientFoundRows=true&loc=Local&parseTime=true"},
		{"credentials in the URL", "jdbc:mariadb://h/d?user=u&password=p", base + "clientFoundRows=true&loc=Local&parseTime=true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var f faults
			got := f.jdbcDSN("p", test.url, "u", "p", nil)
			if err := f.err(); err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if _, err := mysql.ParseDSN(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestJDBCURLsThatCannotBeKeptAreRefused(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"", "is no JDBC URL of one MySQL or MariaDB server"},
		{"jdbc:h2:mem:d", "is no JDBC URL of one MySQL or MariaDB server"},
		{"jdbc:mysql://h1:1,h2:2/d", "is no JDBC URL of one MySQL or MariaDB server"},
		{"jdbc:mysql:replication://h/d", "is no JDBC URL of one MySQL or MariaDB server"},
		{"jdbc:mysql://u:secret@h/d", "is no JDBC URL of one MySQL or MariaDB server"},
		{"jdbc:mysql://h/d?a=%zz", "has properties that cannot be read"},
		{"jdbc:mysql://h/d?user=other", "the property user is another one than that beside the URL"},
		{"jdbc:mysql://h/d?password=secret", "the property password is another one than that beside the URL"},
		{"jdbc:mysql://h/d?serverTimezone=SERVER", "serverTimezone is SERVER"},
		{"jdbc:mysql://h/d?serverTimezone=GMT%2B5:30", "the property serverTimezone is not a time zone"},
		{"jdbc:mysql://h/d?serverTimezone=CTT", "the property serverTimezone is not a time zone"},
		{"jdbc:mysql://h/d?forceConnectionTimeZoneToSession=true", "needs a zone that the server knows"},
		{"jdbc:mysql://h/d?useSSL=maybe", "the property useSSL is not true or false"},
		{"jdbc:mysql://h/d?sslMode=SOME", "the property sslMode is not DISABLED"},
		{"jdbc:mysql://h/d?characterEncoding=latin1", "is not UTF-8"},
		{"jdbc:mysql://h/d?connectionCollation=latin1_swedish_ci", "is not of UTF-8"},
		{"jdbc:mysql://h/d?socketTimeout=1m", "is not a number of milliseconds"},
		{"jdbc:mysql://h/d?maxAllowedPacket=big", "is not a number of bytes"},
		{"jdbc:mysql://h/d?sessionVariables=@@x%3D1", "without @@"},
		{"jdbc:mysql://h/d?trustCertificateKeyStoreUrl=file:x", "trustCertificateKeyStoreUrl is not known"},
	} {
		var f faults
		got := f.jdbcDSN("p", test.url, "u", "p", nil)
		err := f.err()
		if got != "" || err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q, %v, want %s", test.url, got, err, test.want)
		}
	}
}
