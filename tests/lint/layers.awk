# layers.awk: the checker of test_layers.sh. Reads the law (-v law=FILE), the edges of calls() in calls.sh
# (-v edges=FILE), then all sources of a tree; prints one line for each mistake.

function to_pattern(glob) {
    gsub(/\./, "[.]", glob); gsub(/\*/, "[^/]*", glob); gsub(/\[!/, "[^", glob)
    return "^" glob "$" }
function fits(file, globs,   n, i, list) {
    n = split(globs, list, " ")
    for (i = 1; i <= n; i++)
        if (file ~ to_pattern(list[i])) return 1
    return 0 }
function note_globs(globs,   n, i, list) {
    n = split(globs, list, " ")
    for (i = 1; i <= n; i++) { glob[++n_globs] = list[i]; glob_line[n_globs] = FNR } }
function match_globs(   i) {
    for (i = 1; i <= n_globs; i++)
        if (!glob_fits[i] && fits(FILENAME, glob[i])) glob_fits[i] = 1 }
function check_globs(   i) {
    for (i = 1; i <= n_globs; i++)
        if (!glob_fits[i]) report_law(glob_line[i], "no file " glob[i]) }
function has(list, word) { return index(" " list " ", " " word " ") > 0 }
function report(what) { print FILENAME ":" FNR ": " what }
function report_law(line, what) { print "layers.txt:" line ": " what }
function room_of(file) {
    if (file ~ /^include\//) return "include"
    sub(/^src\//, "", file)
    sub(/\/[^\/]*$/, "", file)
    return file }

# ---- the rooms ----

function covers(name, room) {
    return name == room || name == room "/." || index(room, name "/") == 1 }
function may_use(room, target,   n, i, list) {
    if (room == target) return 1
    if ((room, target) in upward) { is_upward[room, target]; return 1 }
    n = split(may[room], list, " ")
    for (i = 1; i <= n; i++)
        if (covers(list[i], target)) return 1
    return 0 }
function check_order(   r, i, k, n, list, room, covered) {
    for (r = 1; r <= n_rooms; r++) {
        room = room_at[r]
        n = split(may[room], list, " ")
        for (i = 1; i <= n; i++) {
            covered = 0
            for (k = 1; k <= n_rooms; k++) {
                if (k == r || !covers(list[i], room_at[k])) continue
                covered++
                if (k > r) report_law(line_of[room], room " may not use " room_at[k] ", which is below it") }
            if (!covered) report_law(line_of[room], "no room " list[i]) } } }
function check_use(room, target, what) {
    if (room in may && !may_use(room, target))
        report(room " may not " what) }
function check_rooms(   r, room, limit) {
    for (r = 1; r <= n_rooms; r++) {
        room = room_at[r]
        if (!(room in n_files)) report_law(line_of[room], "no folder of the room " room)
        if (!(room in sentence)) report_law(line_of[room], "no sentence about the room " room)
        if (n_sources[room] > 18) report_law(line_of[room], room " has " n_sources[room] " .c files; 18 are the most")
        if (room == "include" || (room in limits && limits[room] == "any")) continue
        limit = room in limits ? limits[room] : 1
        if (n_shown[room] > limit)
            report_law(line_of[room], room " shows " n_shown[room] " headers to others, and may show " limit ":" shown[room])
        else if (room in limits && n_shown[room] < limit)
            report_law(limit_line[room], room " shows " n_shown[room] + 0 " headers to others: lower its figure, or strike the line") }
    for (r = 1; r <= n_upward; r++)
        if (!((upward_from[r], upward_to[r]) in is_upward))
            report_law(upward_line[r], upward_from[r] " does not use " upward_to[r] " any more: strike it") }

# ---- lines of files ----

function check_include(name,   room, target, source, i) {
    source = "src/" substr(name, 1, length(name) - 1) "c"
    target = name
    room = room_of(FILENAME)
    if (!(room in may)) return
    if (name ~ /^([qc]prof[.]h|qprof\/)/) target = "include"
    else if (!sub(/\/[^\/]*$/, "", target)) target = room
    check_use(room, target, "include " name)
    if (target != room && !((target, name) in is_shown)) {
        is_shown[target, name]
        n_shown[target]++
        shown[target] = shown[target] " " name }
    for (i = 1; i <= n_hot; i++)
        if (FILENAME == hot_file[i] && !has(hot_may[i], name))
            report("the hot path may not include " name)
    for (i = 1; i <= n_apart; i++)
        if (fits(FILENAME, apart[i]) && fits(source, apart[i]) && source != FILENAME)
            report("may not know its neighbour " name) }
function check_system(name,   i) {
    for (i = 1; i <= n_header; i++)
        if (fits(FILENAME, header[i]) && !has(header_may[i], name))
            report("may not include <" name ">") }
function check_calls(code,   name, before, i) {
    while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ ]?\(/)) {
        name = substr(code, RSTART, RLENGTH - 1)
        sub(/ $/, "", name)
        before = substr(code, 1, RSTART - 1)
        code = substr(code, RSTART + RLENGTH)
        if (before ~ /(->|\.)$/ || !(name in home_of)) continue
        i = home_of[name]
        if (!fits(FILENAME, home[i]))
            report(name "() belongs to the home of " home_name[i] ": " home[i]) } }

FILENAME == law && /^room / {
    name = $2; sub(/:$/, "", name); sub(/^[^:]*:[ ]*/, ""); may[name] = $0
    room_at[++n_rooms] = name; line_of[name] = FNR; last_room = name }
FILENAME == law && /^what / { sentence[last_room] }
FILENAME == law && /^upward / {
    name = $2; sub(/:$/, "", name)
    for (i = 3; i <= NF; i++) {
        upward[name, $i]
        upward_from[++n_upward] = name; upward_to[n_upward] = $i; upward_line[n_upward] = FNR } }
FILENAME == law && /^headers / {
    name = $2; sub(/:$/, "", name); limits[name] = $3; limit_line[name] = FNR }
FILENAME == law && /^apart / { sub(/^apart /, ""); apart[++n_apart] = $0; note_globs($0) }
FILENAME == law && /^header / {
    sub(/^header /, ""); n_header++
    header_may[n_header] = $0; sub(/^[^:]*: /, "", header_may[n_header])
    sub(/:.*/, ""); header[n_header] = $0; note_globs($0) }
FILENAME == law && /^hot / {
    n_hot++; hot_file[n_hot] = $2; sub(/:$/, "", hot_file[n_hot])
    sub(/^[^:]*: /, ""); hot_may[n_hot] = $0; note_globs(hot_file[n_hot]) }
FILENAME == law && /^home / {
    n_home++; home_name[n_home] = $2
    line = $0; sub(/^[^=]*= /, "", line)
    home[n_home] = line; sub(/^[^:]*: /, "", home[n_home]); sub(/:.*/, "", line)
    note_globs(home[n_home])
    n = split(line, call, " ")
    for (i = 1; i <= n; i++) home_of[call[i]] = n_home }
FILENAME == law { next }
FILENAME == edges {
    if (room_of($1) == room_of($2) || ($1, room_of($2)) in is_checked) next
    is_checked[$1, room_of($2)]
    if (!may_use(room_of($1), room_of($2)))
        print $1 ": " room_of($1) " may not call " $3 " of " $2
    next }

FNR == 1 {
    in_comment = 0
    n_files[room_of(FILENAME)]++
    if (FILENAME ~ /[.]c$/) n_sources[room_of(FILENAME)]++
    match_globs()
    if (!(room_of(FILENAME) in may)) report("no such room in layers.txt") }
{
    line = $0
    gsub(/\\"/, "", line)
    if (line ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
        sub(/^[^"]*"/, "", line); sub(/".*/, "", line); check_include(line); next }
    if (line ~ /^[ \t]*#[ \t]*include[ \t]*</) {
        sub(/^[^<]*</, "", line); sub(/>.*/, "", line); check_system(line); next }
    gsub(/"[^"]*"/, "\"\"", line)
    if (in_comment) {
        if (!sub(/^.*\*\//, "", line)) next
        in_comment = 0 }
    gsub(/\/\*[^*]*\*\//, "", line)
    if (sub(/\/\*.*$/, "", line)) in_comment = 1
    if (FILENAME ~ /^src\//) check_calls(line)
}
END { check_order(); check_rooms(); check_globs() }
