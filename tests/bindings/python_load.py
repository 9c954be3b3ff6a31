"""python_load.py: a program as `python3 SCRIPT` or `python3 -m MODULE` begin it, ready to be executed."""
import io
import runpy
import sys
import types


def load(words):
    if words[0] == "-m":
        _, spec, code = runpy._get_module_details(words[1])
        sys.argv = [spec.origin] + words[2:]
        names = {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent}
    else:
        with io.open_code(words[0]) as file:
            code = compile(file.read(), words[0], "exec", dont_inherit=True)
        sys.argv = words
        names = {"__file__": words[0]}
    module = types.ModuleType("__main__")
    module.__dict__.update(names)
    sys.modules["__main__"] = module
    return code, module.__dict__
