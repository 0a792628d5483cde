package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// builtIn are the functions of MariaDB and MySQL that change nothing. One that is
// missing is taken for a routine of the user's, so that a statement which calls it is
// sent in one form only.
var builtIn = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(`
abs acos add_months adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg bin bin_to_uuid
bit_and bit_count bit_length bit_or bit_xor cast ceil ceiling char char_length character_length charset chr coalesce
coercibility collation column_check column_exists column_json column_list compress concat concat_ws connection_id conv
convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date current_role current_time
current_timestamp current_user curtime database date date_add date_format date_sub datediff day dayname dayofmonth
dayofweek dayofyear decode decode_histogram default degrees dense_rank des_decrypt des_encrypt elt encode encrypt exp
export_set extract extractvalue field find_in_set first_value floor format found_rows from_base64 from_days
from_unixtime get_format greatest group_concat grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr
interval is_free_lock is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_used_lock is_uuid isnull json_array
json_array_append json_array_insert json_arrayagg json_compact json_contains json_contains_path json_depth
json_detailed json_equals json_exists json_extract json_insert json_keys json_length json_loose json_merge
json_merge_patch json_merge_preserve json_normalize json_object json_objectagg json_overlaps json_pretty json_query
json_quote json_remove json_replace json_schema_valid json_search json_set json_storage_size json_type json_unquote
json_valid json_value lag last_day last_insert_id lcase lead least left length lengthb ln load_file localtime
localtimestamp locate log log10 log2 lower lpad ltrim make_set makedate maketime max md5 median microsecond mid min
minute mod month monthname name_const natural_sort_key now nth_value ntile nullif nvl nvl2 oct octet_length
old_password ord password percent_rank percentile_cont percentile_disc period_add period_diff pi position pow power
quarter quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace regexp_substr repeat replace
reverse right round row_count row_number rownum rpad rtrim schema schemas sec_to_time second session_user sformat sha
sha1 sha2 sign sin soundex space sqrt std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substring
substring_index subtime sum sys_guid sysdate system_user tan time time_format time_to_sec timediff timestamp
timestampadd timestampdiff to_base64 to_char to_days to_seconds trim truncate ucase uncompress uncompressed_length
unhex unix_timestamp updatexml upper user utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin uuid_v4 uuid_v7
values var_pop var_samp variance version week weekday weekofyear weight_string year yearweek`) {
		names[name] = true
	}
	return names
}()

// noteRoutine notes the call of a function that may do more than give a value.
func (b *builder) noteRoutine(n *ast.FuncCallExpr, name string) {
	if n.Schema.O != "" || !builtIn[name] && !strings.HasPrefix(name, "st_") && !isSQLite(b.dialect) {
		b.stmt.Features |= FeatureRoutine
	}
}
