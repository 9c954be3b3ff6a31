# llvm.sh: the version of clang-format and clang-tidy whose verdict counts. Sourced by the lint tests.
#
# Each release formats some lines otherwise and finds other things, so one is the reference: that of Debian 12.
LLVM=14

# need_llvm TOOL: ends the test as left out if TOOL is missing or has another version
need_llvm() {
    command -v "$1" >/dev/null || { echo "left out: $1 is not installed"; exit 77; }
    version=$("$1" --version | sed -n 's/.* version \([0-9]*\)\..*/\1/p')
    [ "$version" = $LLVM ] || { echo "left out: this is $1 $version, and the sources follow $LLVM, that of Debian 12"; exit 77; }
}
