# calls.sh: which file calls which, from the symbols of objects. Sourced by test_cycles.sh and test_layers.sh.

# calls SOURCE FOLDER...: "CALLER CALLED SYMBOL" for each symbol, of a function or of data, that the
# object of one file below SOURCE takes from another's. The folders are those of CMake's targets; an object
# whose source has been moved away is left out.
calls() {
    calls_of=$1
    shift
    find "$@" -name '*.o' | sort | while read -r object; do
        file=${object#*.dir/}
        [ ! -f "$calls_of/${file%.o}" ] || echo "$object"
    done | xargs nm -A | awk '
        { file = $0
          sub(/\.o:.*$/, "", file)
          sub(/^.*\.dir\//, "", file) }
        $(NF - 1) ~ /^[TDBRVWC]$/ { home[$NF] = file }
        $(NF - 1) == "U" { n++; user[n] = file; wanted[n] = $NF }
        END {
            for (i = 1; i <= n; i++)
                if (wanted[i] in home && home[wanted[i]] != user[i])
                    print user[i], home[wanted[i]], wanted[i] }'
}
