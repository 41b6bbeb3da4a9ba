#!/usr/bin/env bash
# ./dev's own counting, with stand-ins for the programs that it runs. Usage: dev_reports.sh REPOSITORY FOLDER
set -u
repository=$1 folder=$2
rm -rf "$folder" && mkdir -p "$folder/bin" || exit 1
# shellcheck source=/dev/null
. "$repository/dev"
trap - INT TERM
logs="$folder/logs"
PATH="$folder/bin:$PATH"
wrong=0

expect() {  # WHAT WANTED GOT
  [ "$2" = "$3" ] && return
  printf '%s: wanted "%s", got "%s"\n' "$1" "$2" "$3"
  wrong=1
}
stand_in() {  # NAME STATUS: a program that prints what comes in here
  { printf '#!/bin/sh\ncat <<TEXT\n'; cat; printf 'TEXT\nexit %s\n' "$2"; } >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
forget() {
  passed=0 failed=0 skipped=0
  failures=() times=()
}

stand_in ctest 0 <<'TEXT'
1/3 Test #1: quick ............   Passed    0.01 sec
2/3 Test #2: without_model ....***Skipped   0.01 sec
3/3 Test #3: thorough .........   Passed   41.20 sec
100% tests passed, 0 tests failed out of 3
TEXT
forget
count_tests 'some tests' >/dev/null
expect 'skipped tests are not passed ones' '2 0 1' "$passed $failed $skipped"
expect 'the last line' '2 passed, 0 failed, 1 skipped' "$(conclude | tail -1)"
expect 'what took longest comes first' '  41   thorough (some tests)' "$(conclude | sed -n 2p)"

stand_in ctest 8 <<'TEXT'
1/2 Test #1: bad ..............***Failed    0.01 sec
bad_test.cpp:7: Failure
Expected: (5) > (6), actual: 5 vs 6
    Start 2: good.IsAnError
2/2 Test #2: good.IsAnError ...   Passed    0.01 sec
50% tests passed, 1 tests failed out of 2
TEXT
forget
count_tests 'failing tests' >"$folder/said"
expect 'a failed test' '1 1 0 failing tests   bad' "$passed $failed $skipped ${failures[*]}"
expect 'why it failed' 1 "$(grep -c 'actual: 5 vs 6' "$folder/said")"
expect 'a test whose name has the word is no reason' 0 "$(grep -c IsAnError "$folder/said")"

rm "$folder/bin/ctest"
mkdir -p "$folder/empty" && printf '' >"$folder/empty/CTestTestfile.cmake"
forget
count_tests 'no tests' --test-dir "$folder/empty" >/dev/null
expect 'a run without tests has failed' '0 1' "$passed $failed"

stand_in npm 1 <<'TEXT'
npm ERR! code SELF_SIGNED_CERT_IN_CHAIN
npm ERR! request to the registry failed, reason: self signed certificate in certificate chain
npm ERR! A complete log of this run can be found in: somewhere
FAILED: web/node_modules
TEXT
forget
said=$(step 'install the page' npm install)
case "$said" in
  *'self signed certificate'*) ;;
  *) expect "npm's reason is shown" 'self signed certificate' "$said" ;;
esac

stand_in npm 0 <<'TEXT'
  4 passed (3s)
  2 skipped
TEXT
forget
count_page_tests 'page' npm test >/dev/null
expect 'skipped tests of the page' '4 0 2' "$passed $failed $skipped"
stand_in npm 0 <<'TEXT'
no tests found
TEXT
forget
count_page_tests 'page' npm test >/dev/null
expect 'a page run without tests has failed' '0 1' "$passed $failed"

stand_in npm 1 <<'TEXT'
  1) [page] › tests/e2e/links.spec.ts:10:1 › a guest comes by a link ───────

    Error: a reason

  1 failed
    [page] › tests/e2e/links.spec.ts:10:1 › a guest comes by a link ────────
  3 passed (1.0m)
TEXT
forget
count_page_tests 'page' npm test >/dev/null
expect 'a failed test of the page' '3 1 [page] › tests/e2e/links.spec.ts:10:1 › a guest comes by a link' \
  "$passed $failed ${failures[1]#  }"

cat >"$folder/bin/cmake" <<'TEXT'
#!/bin/sh
[ "$1" = --build ] || exit 0
echo "$3" >>calls
sleep "$(cat patience)" && echo finished >>calls
TEXT
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >"$folder/bin/chrt"  # priorities are not for every machine to give
chmod +x "$folder/bin/cmake" "$folder/bin/chrt"
forget
cd "$folder" || exit 1
echo 10 >patience
begin_builds 'early all' 'late all'
beside=$beginning
for _ in {1..1000}; do
  [ -e calls ] && break
  sleep 0.01
done
echo 0 >patience
build early all >/dev/null
expect 'builds that have begun are stopped, and then one is done' 'early early finished' "$(paste -sd' ' calls)"
kill -0 -- "-$beside" 2>/dev/null
expect 'nothing of its beginning is left' 1 "$?"
exit "$wrong"
