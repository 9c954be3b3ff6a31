# sources.sh: Debian's source packages, with lists of their own in ./apt: no file of the system changes. To be read by a script.
#
# fetch WORDS...: apt-get with these lists; they are up to date, or apt.log says why not.
mkdir -p apt/parts apt/lists/partial
for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || { sed 's/^Types:.*/Types: deb-src/' "$file"; echo; } >>apt/parts/source.sources
done
sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >apt/list 2>/dev/null || :
fetch() {
    timeout -k 10 600 apt-get -q -o "Dir::Etc::SourceList=$PWD/apt/list" -o "Dir::Etc::SourceParts=$PWD/apt/parts" \
        -o "Dir::State::Lists=$PWD/apt/lists" -o APT::Sandbox::User=root "$@"
}
fetch update >apt.log 2>&1 || :
