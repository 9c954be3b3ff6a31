# forward.awk: the forwarders of qprof_stub.c, from the public headers: each function that they declare
# with QPROF_FN becomes an entry of a table and a function that calls through it.

BEGIN {
    # a collector without one of these is refused; the events in line end in qprof_cold_*
    n = split("initialize initialize_ex shutdown open close define register_method_id thread_handle " \
              "thread_new thread_end thread_mount token_mount error_text version", list, " ")
    for (i = 1; i <= n; i++) is_needed[list[i]] = 1
    # written by hand in stub.c
    n = split("open initialize initialize_ex set_clock set_program set_labels error_text", list, " ")
    for (i = 1; i <= n; i++) is_apart[list[i]] = 1
    # what no collector returns, where the type does not say it
    value["is_running"] = value["is_recording"] = value["trg_is_on"] = "0"
    value["trigger_thread_status"] = value["pc_pattern_match"] = "0"
    value["line_at"] = value["block_at"] = "-1"
    value["changes"] = "changes"
    value["environment"] = "\"QPROF\""
    value["strerror"] = "code ? \"no collector\" : \"no error\""
    value["error_text"] = value["version"] = "\"\""
    of_type["int"] = "QPROF_E_STATE"
    of_type["qprof_thread *"] = "&closed"
    of_type["const char *"] = "\"\""
    of_type["qprof_token"] = "QPROF_NO_TOKEN"
    # what other tools learn of, see stub.c
    value["define"] = "keep_name(name, class_name, file, lines, n_lines)"
    value["register_method_id"] = value["register_method_id_vt"] = \
        "show_name(id, demangled_name, class_name, source_file)"
    value["register_code"] = "show_code(id, start, n_bytes)"
    value["cold_enter"] = "entered(method, method)"
    value["cold_entry"] = "entered(method, id)"
    value["record_fn_entry"] = value["record_fn_entry_vt"] = "entered(method, stack_id)"
    value["cold_leave"] = "left(token)"
    value["cold_exit"] = "resumed(id)"
    value["record_fn_exit"] = value["record_fn_exit_vt"] = "resumed(stack_id)"
    value["token_unwind"] = "resumed(token)"
    value["cold_find"] = "method"
    value["cold_top"] = "UNKNOWN_FRAME"
    RS = ";"
}

function name_of(parameter) {
    if (match(parameter, /\(\*[a-z_0-9]+\)/))
        return substr(parameter, RSTART + 2, RLENGTH - 3)
    sub(/\[.*\]/, "", parameter)
    match(parameter, /[A-Za-z_0-9]+$/)
    return substr(parameter, RSTART)
}

# The names of all parameters: commas inside parentheses separate none.
function names_of(parameters,   i, c, depth, one, all) {
    if (parameters == "void") return ""
    for (i = 1; i <= length(parameters) + 1; i++) {
        c = i > length(parameters) ? "," : substr(parameters, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && !depth) {
            all = all (all == "" ? "" : ", ") name_of(one)
            one = ""
        } else one = one c
    }
    return all
}

{ gsub(/[ \t\n]+/, " ") }

match($0, /QPROF_FN\([^)]*\) *qprof_[a-z_]+\(.*\)$/) {
    text = substr($0, RSTART + 9, RLENGTH - 9)
    at = index(text, ")")
    type[++n_functions] = substr(text, 1, at - 1)
    text = substr(text, at + 1)
    sub(/^ */, "", text)
    at = index(text, "(")
    name[n_functions] = substr(text, 7, at - 7)
    parameters[n_functions] = substr(text, at + 1, length(text) - at - 1)
}

END {
    print "enum {"
    for (i = 1; i <= n_functions; i++) print "    AT_" name[i] ","
    print "    N_FUNCTIONS\n};\n"
    print "/* In the order of the enum; !: a collector that lacks it is refused. */"
    print "static const char names[] ="
    for (i = 1; i <= n_functions; i++)
        printf "    \"%s%s%s\"%s\n", name[i] ~ /^cold_/ || name[i] in is_needed ? "!" : "", name[i],
               i < n_functions ? "\\0" : "", i < n_functions ? "" : ";"
    print "\nstatic any_function functions[N_FUNCTIONS]; /* NULL: there is no collector, or it has not this */\n"
    for (i = 1; i <= n_functions; i++) {
        t = type[i]; space = t ~ /\*$/ ? "" : " "
        print "typedef " t space "(*type_" name[i] ")(" parameters[i] ");"
    }
    print "#define FUNCTION(name) \\\n    ((type_##name)__atomic_load_n(&functions[AT_##name], __ATOMIC_ACQUIRE))\n"
    for (i = 1; i <= n_functions; i++) {
        if (name[i] in is_apart) continue
        t = type[i]; space = t ~ /\*$/ ? "" : " "
        print t space "qprof_" name[i] "(" parameters[i] ")\n{"
        print "    type_" name[i] " function = FUNCTION(" name[i] ");"
        call = "function(" names_of(parameters[i]) ")"
        if (t == "void") {
            print "    if (function)\n        " call ";"
            if (name[i] in value) print "    else\n        " value[name[i]] ";"
        } else {
            otherwise = name[i] in value ? value[name[i]] : t in of_type ? of_type[t] : t ~ /\*$/ ? "NULL" : "0"
            print "    return function ? " call " : " otherwise ";"
        }
        print "}\n"
    }
}
