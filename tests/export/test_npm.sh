#!/bin/sh
# test_npm.sh: parsers from npm count what we count. They are installed into the build folder, as
# package-lock.json says.
. "$(dirname "$0")/lib.sh"
need_modules

cat >count.js <<'END'
// count.js MODULE FILE: totals over all files that the parser found
const [, , name, file] = process.argv
const parser = require(process.env.MODULES + '/node_modules/' + name)
const read = name === 'lcov-parse' ? parser : parser.parseFile
read(file, (error, files) => {
    if (error) throw error
    for (const thing of ['lines', 'functions', 'branches']) {
        const rows = files.flatMap((f) => f[thing].details)
        const hit = rows.filter((row) => (thing === 'branches' ? row.taken : row.hit) > 0)
        console.log(thing, hit.length, rows.length)
    }
})
END
count() { MODULES=$modules node count.js "$1" "$2"; }

for picture in small large; do
    write $picture lcov >$picture.info
    write $picture cobertura >$picture.xml
    claim "lcov-parse sees all of $picture" same "$(hits $picture)" "$(count lcov-parse $picture.info)"
    claim "cobertura-parse sees all of $picture" same "$(hits $picture)" \
        "$(count cobertura-parse $picture.xml)"
done
write hostile cobertura >hostile.xml
claim "cobertura-parse sees all of hostile names" same "$(hits hostile)" \
    "$(count cobertura-parse hostile.xml)"
write hostile lcov >hostile.info
# It takes "end_of_record" within a function's name for the end of a record.
claim "lcov-parse sees all lines of hostile names" same "$(hits hostile | grep lines)" \
    "$(count lcov-parse hostile.info | grep lines)"
finish
