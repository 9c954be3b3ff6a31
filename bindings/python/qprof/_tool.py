"""The program qprof, which reads profiles."""
import os
import shutil
import subprocess


def find():
    """Its path: that of the variable QPROF_TOOL, or of a folder of PATH. None: it is not installed."""
    return os.environ.get("QPROF_TOOL") or shutil.which("qprof")


def run(*words):
    """What it prints. Raises RuntimeError with its message."""
    path = find()
    if path is None:
        raise RuntimeError("the program qprof is not installed, or not in PATH (nor named by QPROF_TOOL)")
    done = subprocess.run([path, *words], capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: the profile is damaged, and read as far as possible
        raise RuntimeError(done.stderr.strip())
    return done.stdout
