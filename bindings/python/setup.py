"""Builds the package qprof. The recorder is compiled into the extension module.

    pip wheel --no-build-isolation --no-deps .                a wheel
    python3 setup.py sdist                                    sources, with those of the recorder
    QPROF_LIBRARY=FILE python3 setup.py build_ext --inplace   with a recorder that is built: libqprof.a or .so

In a checkout of qprof the recorder's sources are made by tools/amalgamate.py; an sdist has them in recorder/.
"""
import os
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
IS_CHECKOUT = os.path.exists(os.path.join(CHECKOUT, "tools", "amalgamate.py"))
LIBRARY = os.environ.get("QPROF_LIBRARY")


def make_recorder():
    """The recorder in one file, and the header under the name by which it is included."""
    folder = os.path.join(HERE, "recorder")
    if not IS_CHECKOUT:
        return
    os.makedirs(os.path.join(folder, "qprof"), exist_ok=True)
    subprocess.check_call([sys.executable, os.path.join(CHECKOUT, "tools", "amalgamate.py"), folder])
    with open(os.path.join(folder, "qprof", "embed.h"), "w", encoding="ascii") as file:
        file.write('#include "../qprof.h"\n')
    shutil.copy(os.path.join(CHECKOUT, "LICENSE"), os.path.join(HERE, "LICENSE"))


class BuildExtension(build_ext):
    def run(self):
        if not LIBRARY:
            make_recorder()
        super().run()


class MakeSources(sdist):
    def run(self):
        make_recorder()
        super().run()


sources = ["src/" + name for name in sorted(os.listdir(os.path.join(HERE, "src"))) if name.endswith(".c")]
extension = Extension("qprof._recorder", sources, include_dirs=["src"],
                      extra_compile_args=["-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra"])
if LIBRARY:
    extension.include_dirs.append(os.path.join(CHECKOUT, "include"))
    extension.extra_objects.append(LIBRARY)
else:
    extension.include_dirs.append("recorder")
    extension.sources.append("recorder/qprof.c")
    extension.extra_compile_args += ["-D_GNU_SOURCE", "-Wno-stringop-overread"]
extension.libraries.append("pthread")

setup(packages=["qprof"], ext_modules=[extension], cmdclass={"build_ext": BuildExtension, "sdist": MakeSources})
