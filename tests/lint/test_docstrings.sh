#!/bin/sh
# test_docstrings.sh: every public function is documented in one form.
#   - A comment /** ... */ precedes each declaration QPROF_FN(type) name(...) and each public inline
#     function. It may document several declarations that follow each other without a blank line.
#   - It begins with a sentence: a capital letter, up to a full stop.
#   - Each parameter has a name and a line "@param name".
#   - It has "@return" if one of its functions returns a value, and none if no one does.
#   - It has "Thread safety:", or the comment under its heading (the latest "/* ---- ... ") has.
# Proved by headers with one mistake each.
set -eu

check() { # HEADER...: prints "file: function: mistake"
    awk '
    function fail(what) { print FILENAME ": " name ": " what; n_mistakes++ }
    function finish(   i, names, n) { # the group of declarations that one comment documents
        if (!group) return
        name = group
        if (doc ~ /^ *$/) fail("no comment")
        else {
            if (doc !~ /^ *[A-Z][^.]*[a-z0-9)"][.:]/) fail("the comment does not begin with a sentence")
            if (returns && doc !~ /@return/) fail("no @return")
            if (!returns && doc ~ /@return/) fail("@return of a function that returns nothing")
            if (doc !~ /Thread safety:/ && heading !~ /Thread safety:/) fail("no \"Thread safety:\"")
            n = split(parameters, names, " ")
            for (i = 1; i <= n; i++)
                if (doc !~ ("@param " names[i] "( |$)")) fail("no @param " names[i])
        }
        group = doc = parameters = ""; returns = 0
    }
    function declare(text,   type, list, n, i, p) {
        if (text ~ /^QPROF_FN/) {
            type = text; sub(/^QPROF_FN\(/, "", type); sub(/\).*/, "", type)
            sub(/^QPROF_FN\([^)]*\) */, "", text)
        } else {
            type = text; sub(/^static inline /, "", type); sub(/[a-z_]+\(.*/, "", type)
            sub(/^static inline [^(]*[ *]/, "", text); sub(/\) *\{.*/, ");", text)
        }
        name = text; sub(/\(.*/, "", name)
        group = group (group ? ", " : "") name
        if (type !~ /^void *$/) returns = 1
        sub(/^[a-z_]+\(/, "", text); sub(/\)[^)]*$/, "", text)
        while (match(text, /\(\*[a-z_]*\)\([^()]*\)/)) { # a pointer to a function is one word
            p = substr(text, RSTART + 2); sub(/\).*/, "", p)
            text = substr(text, 1, RSTART - 1) "*" p substr(text, RSTART + RLENGTH)
        }
        if (text == "void" || text == "") return
        n = split(text, list, ",")
        for (i = 1; i <= n; i++) {
            p = list[i]
            if (p !~ /[ *][A-Za-z_0-9]+$/ || p ~ /^ *(const )?[A-Za-z_]+ *\*?$/) { fail("a parameter without name:" p); continue }
            sub(/.*[ *]/, "", p)
            parameters = parameters " " p
        }
    }
    FNR == 1 { finish(); heading = "" }
    /^\/\* ---- / { finish(); heading = $0; in_heading = 1 }
    in_heading { heading = heading " " $0; if (/\*\//) in_heading = 0; next }
    /^\/\*\*/ { finish(); doc = ""; in_doc = 1 }
    in_doc {
        line = $0; sub(/^\/\*\* ?/, "", line); sub(/^ \* ?/, "", line)
        done = line ~ /\*\//; sub(/ *\*\/.*/, "", line)
        doc = doc " " line
        if (done) in_doc = 0
        next
    }
    /^QPROF_FN\(/ || (/^static inline / && doc !~ /^ *$/) { pending = ""; in_declaration = 1 }
    in_declaration {
        pending = pending (pending ? " " : "") $0
        if (/[;{]/ || (/^static inline.*\)$/)) { gsub(/  +/, " ", pending); in_declaration = 0; declare(pending) }
        else if (pending ~ /^static inline.*\)$/) { in_declaration = 0; declare(pending) }
        next
    }
    /^$/ && group { finish() }
    END { finish(); exit n_mistakes > 0 }
    ' "$@"
}

# ---- planted mistakes ---------------------------------------------------------------------------

reject() { # WANTED LINES...: a header of these lines has this mistake
    wanted=$1
    shift
    printf '%s\n' "$@" >planted.h
    if check planted.h >found; then
        echo "test_docstrings.sh: not found: $wanted"
        exit 1
    fi
    grep -qF "$wanted" found || { echo "test_docstrings.sh: wanted \"$wanted\", found:"; cat found; exit 1; }
}
good='/** Count. @param n  a number @return 0 Thread safety: any. */'
printf '%s\n' "$good" 'QPROF_FN(int) qprof_x(int n);' >planted.h
check planted.h
printf '%s\n' '/* ---- a ----' ' * Thread safety: any. */' '/** Count.' ' *' ' * @param n  a number' ' * @param f  called */' \
    'QPROF_FN(void)' 'qprof_x(const char *n, int (*f)(void));' 'QPROF_FN(void) qprof_y(int n);' >planted.h
check planted.h
reject 'no comment' 'QPROF_FN(int) qprof_x(int n);'
reject 'qprof_y: no comment' "$good" 'QPROF_FN(int) qprof_x(int n);' '' 'QPROF_FN(int) qprof_y(int n);'
reject 'sentence' '/** count @return 0 Thread safety: any. */' 'QPROF_FN(int) qprof_x(void);'
reject 'no @param m' "$good" 'QPROF_FN(int) qprof_x(int n, int m);'
reject 'no @param f' "$good" 'QPROF_FN(int) qprof_x(int n, int (*f)(void));'
reject 'without name' "$good" 'QPROF_FN(int) qprof_x(const char *, int n);'
reject 'no @return' '/** Count. Thread safety: any. */' 'QPROF_FN(int) qprof_x(void);'
reject 'returns nothing' "$good" 'QPROF_FN(void) qprof_x(int n);'
reject 'no "Thread safety:"' '/** Count. @return 0 */' 'QPROF_FN(int) qprof_x(void);'
reject 'no "Thread safety:"' '/* ---- a ---- * Thread safety: any. */' '/* ---- b ---- */' \
    '/** Count. @return 0 */' 'QPROF_FN(int) qprof_x(void);'
reject 'no @param n' '/** Count. @return 0 Thread safety: any. */' 'static inline int qprof_x(int n)' '{'

# ---- the headers --------------------------------------------------------------------------------

check "$QPROF_SOURCE"/include/*.h "$QPROF_SOURCE"/include/qprof/*.h
