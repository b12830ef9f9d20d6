#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# parallel.sh N COMMAND...: GNU parallel runs N shards of a command, then they are merged.
#
#	examples/cluster/parallel.sh 8 run geo --trials 100
#
# Here two at a time; PARALLEL holds other options of parallel, for machines with a checkout at the same path (not run here):
#
#	PARALLEL='--sshlogin node1,node2 --workdir . --return parts/{} --cleanup' examples/cluster/parallel.sh 8 run geo --trials 100
set -euo pipefail
count=$1
shift
parallel --will-cite --jobs 2 --halt soon,fail=1 --line-buffer --tag \
  "${LAB:-scripts/lab}" "$@" --jobs 1 --shard "{}/$count" --out "parts/{}" ::: $(seq "$count")
exec "${LAB:-scripts/lab}" merge $(seq -f 'parts/%g' "$count")
