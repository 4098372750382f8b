#!/usr/bin/env bash
# Counts the instructions of one tell, one hop between two actors, and one ask: exact where nanoseconds are not, so that a change
# that costs 5% shows on any machine. One worker thread, so that nothing depends on how threads happen to meet.
#
#   bench/instructions.sh                # ours and tokio by hand
#   bench/instructions.sh ours kameo     # any contenders
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

few=1000
many=51000

if ! command -v valgrind >/dev/null; then
    echo "instructions.sh needs valgrind: apt-get install valgrind, dnf install valgrind, or https://valgrind.org" >&2
    exit 1
fi
if [[ $# -eq 0 ]]; then
    set -- ours tokio
fi

cargo build --release --quiet -p actors-bench
program="${CARGO_TARGET_DIR:-target}/release/actors-bench"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# instructions WORKLOAD CONTENDER OPERATIONS: of the whole process.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log" \
        "$program" run "$1" "$2" --operations "$3" --threads 1 >/dev/null || {
        cat "$log" >&2
        return 1
    }
    sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$log"
}

# What begins and ends the process is in both counts, so the slope between them is free of it.
slope() {
    local less more
    less=$(instructions "$1" "$2" "$few")
    more=$(instructions "$1" "$2" "$many")
    echo $(((more - less) / (many - few)))
}

printf '| instructions |'
printf ' %9s |' "$@"
printf '\n| ------------ |'
printf ' --------: |%.0s' "$@"
printf '\n'
for row in tell:tell1 hop:pingpong ask:ask; do
    printf '| %-12s |' "${row%%:*}"
    for contender in "$@"; do
        # An assignment of its own, so that a failure ends the script.
        count=$(slope "${row##*:}" "$contender")
        printf ' %9s |' "$count"
    done
    printf '\n'
done
