# schema.jq: the part of JSON Schema that docs/schema uses. Prints a line for each thing in the
# input that the schema $schema[0] does not allow.
def kind: if type == "number" and floor == . then "integer" else type end;

def problems($s; $at):
  if $s["$ref"] then problems($schema[0]["$defs"][$s["$ref"] | ltrimstr("#/$defs/")]; $at)
  else
    . as $value
    | (if $s.type and ([$s.type] | flatten | index($value | kind) | not)
       then "\($at): is \($value | kind), not \($s.type)" else empty end),
      (if $s.enum and ($s.enum | index($value) | not) then "\($at): \($value)" else empty end),
      (if $s.minimum and ($value | type) == "number" and $value < $s.minimum
       then "\($at): \($value) < \($s.minimum)" else empty end),
      (if $s.pattern and ($value | test($s.pattern) | not) then "\($at): \($value)" else empty end),
      (if type == "object" then
         ($s.required // [] | .[] | . as $key | select($value | has($key) | not)
          | "\($at).\($key): is missing"),
         (keys[] | . as $key
          | ($s.properties // {})[$key] // $s.additionalProperties
          | . as $part
          | if $part == false then "\($at).\($key): is not in the schema"
            elif $part | type == "object" then $value[$key] | problems($part; "\($at).\($key)")
            else empty end)
       elif type == "array" and $s.items then
         range(length) as $i | .[$i] | problems($s.items; "\($at)[\($i)]")
       else empty end)
  end;

problems($schema[0]; "")
