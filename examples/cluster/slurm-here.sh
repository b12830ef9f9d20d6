#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-here.sh FOLDER COMMAND...: runs a command with a Slurm of its own on this machine: one controller, one node with all
# processors. It lives in a network namespace, so that no port of it is reachable, and ends with the command.
set -euo pipefail
if [ "${LAB_SLURM:-}" != inside ]; then
  LAB_SLURM=inside exec unshare --net --pid --fork --mount-proc --kill-child "$0" "$@"
fi
mkdir -p "$1"
folder=$(realpath "$1")
shift
ip link set lo up
ip address add 192.0.2.1/32 dev lo # glibc resolves nothing where all addresses are 127.0.0.0/8
mkdir -p "$folder/state" "$folder/spool"
cat >"$folder/slurm.conf" <<CONF
ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=here NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(free -m | awk '/^Mem/ {print $2}') State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$folder/slurm.conf"
/usr/sbin/slurmctld -D >/dev/null 2>&1 &
/usr/sbin/slurmd -D -N here >/dev/null 2>&1 &
for _ in $(seq 30); do
  timeout 5 sinfo --noheader --format=%T 2>/dev/null | grep -q idle && idle=0 && break
  sleep 1
done
[ "${idle:-1}" = 0 ] || { echo "slurm-here: no node is idle after 30 s: see $folder/slurmctld.log" >&2; exit 1; }
"$@"
