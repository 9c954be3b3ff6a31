"""php_calls.py: are the calls of a report those that another counter has counted?

    php_calls.py own COUNTS REPORT      lines "count N NAME" of a program that counts itself; of a generator's
                                        resumes: "count N resume NAME"
    php_calls.py xdebug TRACE REPORT    a trace of xdebug in format 1, with return values, of another run

xdebug counts a generator when it is created and each time it runs; a report, calls that began, and resumes.
"""
import collections
import json
import re
import sys


def rows(path):
    calls, resumes = collections.Counter(), collections.Counter()
    for method in json.load(open(path))["methods"]:
        calls[method["name"]] += method["calls"]
        resumes[method["name"]] += method.get("resumes", 0)
    return calls, resumes


def own(path, report):
    calls, resumes = rows(report)
    wanted = re.findall(r"^count (\d+) (resume )?(.*)$", open(path).read(), re.M)
    for n, is_resume, name in wanted:
        found = (resumes if is_resume else calls)[name]
        if int(n) != found:
            yield f"{'resumes' if is_resume else 'calls'} of {name}: {found}, and not {n}"
    resumed = {name for _, is_resume, name in wanted if is_resume}
    for name in {name for name, n in resumes.items() if n} - resumed:
        yield f"resumes of {name}: {resumes[name]}, and it has none"
    if not wanted:
        yield "nothing was counted"


def name_of(words, script):
    name, file = words[5], words[7]
    if name == "{main}":
        return "{file " + script + "}"
    if name in ("include", "include_once", "require", "require_once"):
        return "{file " + file.rsplit("/", 1)[-1] + "}"
    if name == "eval":
        return "{eval " + words[8].rsplit("/", 1)[-1] + "(" + words[9] + ")}"
    name = re.sub(r"\{closure:.*:(\d+)-\d+\}", r"{closure:\1}", name)
    name = re.sub(r"^(call_user_func(?:_array)?):\{.*\}$", r"\1", name)
    return name if "{closure" in name else name.replace("->", "::")


def of_line(names):
    """The same counts, with closures named by their lines alone, for each version of PHP adds something else, and with
    one name for all classes without a name."""
    merged = collections.Counter()
    for name, n in names.items():
        name = re.sub(r"^(.*@anonymous|\{anonymous-class:[^}]*\})(?=::)", "@anonymous", name)
        merged[re.sub(r".*\{closure:(.*:)?(\d+)\}", r"{closure:\2}", name)] += n
    return merged


def xdebug(path, report):
    calls, resumes = map(of_line, rows(report))
    wanted, created, names = collections.Counter(), collections.Counter(), {}
    entries, script, last = [], None, None
    for line in open(path, errors="replace"):
        words = line.rstrip("\n").split("\t")
        if len(words) > 9 and words[2] == "0":
            if words[5] == "{main}":
                script = words[8].rsplit("/", 1)[-1]
            names[words[1]] = next(iter(of_line({name_of(words, script): 1})))
            entries.append((int(words[0]), names[words[1]]))
        elif len(words) > 2 and words[2] == "1" and last == words[1]:
            created[names[last]] += 1  # it ends at once, unless a value follows
            last = names[last]
            continue
        elif len(words) > 2 and words[2] == "R" and last == names.get(words[1]):
            created[last] -= 1
        last = words[1] if len(words) > 2 and words[2] == "0" else None
    for (level, name), (next_level, following) in zip(entries, entries[1:] + [(0, "")]):
        is_detour = level + 1 == next_level and (re.search(r"::__call(Static)?$", following) or name == "Closure::__invoke")
        if not (is_detour and name not in calls):
            wanted[name] += 1
    for name in sorted(set(wanted) | set(calls)):
        found = calls[name] + resumes[name]
        if name == "Generator::__debugInfo" and not wanted[name]:
            continue  # by xdebug, which shows a value
        if name.startswith("<") or found in (wanted[name], wanted[name] - created[name]):
            continue
        n_created = 1 if "{closure" in name else calls[name]  # of a line there may be others
        if resumes[name] and found + calls[name] == wanted[name] or n_created <= wanted[name] - found <= created[name]:
            continue  # each that runs was created
        if name.startswith("{file ") and found < wanted[name]:
            continue  # a file that only declares is not executed, but beside xdebug
        yield f"{name}: {found}, and xdebug has {wanted[name]}"
    if len(wanted) < 2:
        yield "nothing was counted"


differences = list({"own": own, "xdebug": xdebug}[sys.argv[1]](sys.argv[2], sys.argv[3]))
print("\n".join(differences[:30]) or f"{len(rows(sys.argv[3])[0])} functions agree")
sys.exit(bool(differences))
