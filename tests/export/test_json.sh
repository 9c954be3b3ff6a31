#!/bin/sh
# test_json.sh: the JSON export has the shape of docs/schema/cover.json, and its rows add up to its
# totals.
. "$(dirname "$0")/lib.sh"
need jq jq

for picture in empty small large hostile; do
    write $picture json >out
    claim "$picture fits the schema" same '' "$(jq -r --slurpfile schema \
        "$root/docs/schema/cover.json" -f "$root/tests/cli/schema.jq" out 2>&1 | head -5)"
    claim "rows of $picture add up" same "$(hits $picture)" "$(jq -r '
        [.files[].lines[] | select(.mark != "deadcode")] as $lines
        | [.files[].functions[] | select(.dead | not)] as $functions
        | "lines \($lines | map(select(.hit)) | length) \($lines | length)",
          "functions \($functions | map(select(.hit)) | length) \($functions | length)",
          "branches \([$lines[].branches_hit] | add // 0) \([$lines[].branches] | add // 0)"' out)"
    claim "totals of $picture are those of its files" same '[]' "$(jq -c '
        . as $c | [.totals | keys[] | . as $key
        | select($c.totals[$key] != ([$c.files[].totals[$key]] | add // 0))]' out)"
    claim "blocks of $picture add up" same "$(jq '[.totals.blocks, .totals.blocks_hit] | tostring' out)" \
        "$(jq '[.files[].lines[] | select(.mark != "deadcode")]
            | [([.[].blocks] | add // 0), ([.[].blocks_hit] | add // 0)] | tostring' out)"
    claim "branches of $picture are those of its lines" same "$(jq '[.files[].lines[].branches]
        | add // 0' out)" "$(jq '[.files[].branches[]] | length' out)"
done
finish
