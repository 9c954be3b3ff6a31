#!/bin/sh
# test_xml.sh: Cobertura and SonarQube reports are well-formed, have the structure that their
# readers expect, and the figures in them add up to our totals.
. "$(dirname "$0")/lib.sh"
need xmllint libxml2-utils

xpath() { xmllint --nonet --xpath "$1" "$2"; }
fits() { xmllint --nonet --noout --relaxng "$root/tests/export/$1.rng" "$2"; }

for picture in empty small large hostile; do
    write $picture cobertura >c.xml
    write $picture sonarqube >s.xml
    claim "Cobertura of $picture has the structure of coverage-04.dtd" fits cobertura c.xml
    claim "SonarQube of $picture has its structure" fits sonarqube s.xml
    claim "Cobertura of $picture: lines and branches as its head says and as we count" same \
        "$(hits $picture)" "$(
            echo "lines $(xpath 'string(/coverage/@lines-covered)' c.xml)" \
                "$(xpath 'string(/coverage/@lines-valid)' c.xml)"
            echo "functions $(xpath 'count(//method[lines/line/@hits > 0])' c.xml)" \
                "$(xpath 'count(//method)' c.xml)"
            echo "branches $(xpath 'string(/coverage/@branches-covered)' c.xml)" \
                "$(xpath 'string(/coverage/@branches-valid)' c.xml)")"
    claim "Cobertura of $picture: lines as listed there" same \
        "$(total $picture lines_hit) $(total $picture lines)" \
        "$(xpath 'count(//class/lines/line[@hits > 0])' c.xml) $(xpath 'count(//class/lines/line)' c.xml)"
    claim "SonarQube of $picture: lines and branches" same \
        "$(hits $picture | grep -v functions)" "$(
            echo "lines $(xpath 'count(//lineToCover[@covered = "true"])' s.xml)" \
                "$(xpath 'count(//lineToCover)' s.xml)"
            echo "branches $(xpath 'sum(//@coveredBranches)' s.xml)" \
                "$(xpath 'sum(//@branchesToCover)' s.xml)")"
done

write large cobertura | sed -n 's/.*condition-coverage="[0-9]*% (\([0-9]*\).\([0-9]*\)).*/\1 \2/p' >ways
claim "conditions add up to the branches" same \
    "$(total large branches_hit) $(total large branches)" \
    "$(awk '{ h += $1; n += $2 } END { print h, n }' ways)"
finish
