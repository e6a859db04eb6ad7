#!/usr/bin/env bash
# Train on the CPU, watch, gate, compare with a recorded baseline; then the same with a fault, which must not pass.
#
#   examples/pipeline.sh                     trains twice with verl: about a quarter of an hour on two cores
#   RUN=DIR SICK=DIR examples/pipeline.sh    takes runs that are there instead of training them
#
# Reports are left in $OUT (runs/pipeline). Exit: 0 the healthy run passed and the sick one was caught, 1 otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
OUT=${OUT:-runs/pipeline}
mkdir -p "$OUT"

train() { # DIRECTORY KEY=VALUE...: in the background, watched until it has ended
  local run=$1
  shift
  klinic train --recipe ppo-cpu --run-dir "$run" "$@" > "$run.log" 2>&1 &
  local job=$!
  klinic watch "$run" --plain --until finished --timeout 30m || true
  wait "$job"
}

gate() { # NAME RUN: the exit code of the worse of check and compare
  local code=0 other=0
  klinic check "$2" --config examples/klinic.yaml \
    --format text --format junit --format sarif --format github \
    --out - --out "$OUT/$1-junit.xml" --out "$OUT/$1.sarif" --out "$OUT/$1-annotations.txt" || code=$?
  klinic compare "$2" --baseline sample_logs/healthy/ppo-cpu-s1 --baseline sample_logs/healthy/ppo-cpu-s2 --ignore 'perf/*' \
    --format text --format junit --out "$OUT/$1-compare.txt" --out "$OUT/$1-compare-junit.xml" || other=$?
  return $((code > other ? code : other))
}

if [ -z "${RUN:-}" ]; then
  RUN=$OUT/healthy-$(date +%H%M%S)
  train "$RUN"
else
  klinic watch "$RUN" --plain --until finished --timeout 1m
fi
gate healthy "$RUN"

if [ -z "${SICK:-}" ]; then
  SICK=$OUT/sick-$(date +%H%M%S)
  train "$SICK" actor_rollout_ref.actor.optim.lr=1e-2 actor_rollout_ref.actor.optim.lr_warmup_steps=0
fi
code=0
gate sick "$SICK" || code=$?
if [ "$code" != 1 ]; then
  echo "the injected fault was not caught (exit $code)" >&2
  exit 1
fi
echo "the healthy run passed, the injected fault was caught; reports in $OUT"
