#!/bin/busybox sh
# The first and only program of a small virtual machine (tools/test-cgroup): starts worlds in cgroups
# of a real kernel and reads from its files what bounds them. Its last line is "RESULT: " and the
# number of checks that failed.
export PATH=/bin
tree=/sys/fs/cgroup
user=1000
run="exec sandlot world /tmp/place --data /tmp/data --port 0"
as_player="exec su -s /bin/sh player -c '$run'"
failed=0

# --- the machine ----------------------------------------------------------------------------------

# The first root cannot be changed for another one, as the jail does it: this begins again in a second.
if [ -z "$IS_MOVED" ]; then
    mkdir /second && mount -t tmpfs tmpfs /second
    for entry in /*; do
        [ "$entry" = /second ] || cp -a "$entry" /second
    done
    IS_MOVED=1 exec switch_root /second /init
fi
mkdir -p /proc /sys /dev /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup2 $tree
chmod 1777 /tmp
ip link set lo up
echo "root:x:0:0::/:/bin/sh
player:x:$user:$user::/tmp:/bin/sh" >/etc/passwd

# --- helpers --------------------------------------------------------------------------------------

check() { # NAME COMMAND…
    local name=$1
    shift
    if "$@"; then
        echo "ok: $name"
    else
        echo "FAILED: $name: $*"
        failed=$((failed + 1))
    fi
}

is() { [ "$1" = "$2" ]; }
gone() { [ ! -e "$1" ]; }

wait_until() { # COMMAND…: at most a minute
    local left=600
    until "$@"; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        usleep 100000
    done
}

make_group() { # GROUP CONTROLLERS: below the root, with these for its children
    local controller
    mkdir -p $tree/$1
    for controller in $2; do
        echo +$controller >$tree/cgroup.subtree_control
    done
}

# As systemd gives a unit with User= and Delegate=yes its cgroup.
delegate() {
    chown $user $tree/$1 $tree/$1/cgroup.procs $tree/$1/cgroup.subtree_control $tree/$1/cgroup.threads
}

log_has() { grep -q -e "$1" /tmp/log; }

child_of() { # the process whose parent is $1
    local stat
    for stat in /proc/[0-9]*/stat; do
        awk -v parent="$1" '{ sub(/^.*\) /, "") } $2 == parent { exit 1 }' $stat 2>/dev/null ||
            { stat=${stat#/proc/}; echo ${stat%/stat}; return; }
    done
}

# Sets host and world: their processes.
start_world() { # GROUP [COMMAND]: in this group, by this command
    rm -rf /tmp/place
    cp -a /place /tmp/place
    chown -R $user /tmp/place
    : >/tmp/log
    (
        sh -c 'echo $PPID' >$tree/$1/cgroup.procs
        exec sh -c "${2:-$run}"
    ) >/tmp/log 2>&1 &
    host=$!
    wait_until log_has 'the world runs' || { cat /tmp/log; return 1; }
    world=$(child_of $host)
}

stop_world() {
    kill -TERM $host
    wait $host
    stopped=$?
    rm -rf /tmp/data
}

group_of() { sed -n 's/^0:://p' /proc/$1/cgroup 2>/dev/null; }
field() { awk -v name="$2" '$1 == name { print $2 }' $tree/$1; } # FILE NAME

# --- a cgroup of its own --------------------------------------------------------------------------

# On a slow machine the host may have ended a world and started another: there is one in the end.
world_is_in() { # GROUP [BEFORE]: and is not the one before
    world=$(child_of $host)
    [ -n "$world" ] && [ "$world" != "$2" ] && [ "$(group_of $world)" = /$1 ]
}

# The kernel counts in pages.
memory_is() { # BYTES
    is "$1" "$(awk '/^Max address space/ { print $4 - $4 % 4096 }' /proc/$world/limits)"
}

check_bounds() { # GROUP
    local own=$1/sandlot-world-$host
    check "the log names the controllers" log_has 'cgroup: cpu memory pids'
    check "the host is in its child" is "$(group_of $host)" /$1/sandlot-host
    check "the world is in its own" wait_until world_is_in $own
    check "and nobody else" is "$(cat $tree/$own/cgroup.procs)" $world
    check "one processor" is "$(cat $tree/$own/cpu.max)" "100000 100000"
    check "one process" is "$(cat $tree/$own/pids.max)" 1
    check "the same memory as its address space" wait_until memory_is "$(cat $tree/$own/memory.max)"
    check "is less than a gigabyte" [ "$(cat $tree/$own/memory.max)" -lt $((1 << 30)) ]
}

check_removed() { # GROUP
    check "a stop is no failure" is $stopped 0
    check "its groups are removed" is "$(ls -d $tree/$1/*/ 2>/dev/null)" ""
    check "and what it turned on is off" is "$(cat $tree/$1/cgroup.subtree_control)" ""
}

# How much of one processor, in percent, two busy programs get in this group within two seconds.
busy_percent() { # GROUP
    local before pids began
    for number in 1 2; do
        sh -c 'while :; do :; done' &
        echo $! >$tree/$1/cgroup.procs
        pids="$pids $!"
    done
    before=$(field $1/cpu.stat usage_usec)
    began=$(awk '{ print $1 * 100 }' /proc/uptime)
    sleep 4
    echo $((($(field $1/cpu.stat usage_usec) - before) / 100 /
        ($(awk '{ print $1 * 100 }' /proc/uptime) - began)))
    kill -9 $pids
    wait $pids 2>/dev/null
}

test_processor() { # GROUP
    local own=$1/sandlot-world-$host before used
    before=$(field $own/cpu.stat usage_usec)
    sleep 1
    check "the world's time is counted" [ "$(field $own/cpu.stat usage_usec)" -gt "$before" ]
    busy_percent $1/sandlot-host >/tmp/percent 2>/dev/null
    used=$(cat /tmp/percent)
    check "two busy programs use two processors elsewhere: $used %" [ "$used" -gt 150 ]
    busy_percent $own >/tmp/percent 2>/dev/null
    used=$(cat /tmp/percent)
    check "and one in a world's group: $used %" [ "$used" -lt 115 ]
    check "because they are throttled" [ "$(field $own/cpu.stat nr_throttled)" -gt 10 ]
}

# Whoever takes too much memory in the group of a world is ended, and nobody elsewhere.
test_memory() { # GROUP
    local own=$1/sandlot-world-$host result too_much
    too_much=$(($(cat $tree/$own/memory.max) + 1048576))
    (
        sh -c 'echo $PPID' >$tree/$own/cgroup.procs
        echo 1000 >/proc/self/oom_score_adj
        exec dd if=/dev/zero of=/dev/null bs=$too_much count=1
    ) 2>/dev/null &
    wait $!
    result=$?
    check "too much memory in a world's group is the end" is $result 137
    check "which the kernel counts" is "$(field $own/memory.events oom_kill)" 1
    check "and the host goes on" kill -0 $host
}

# A shell that may have no second process: the bound holds for those who start one.
test_processes() { # GROUP
    local own=$1/sandlot-world-$host
    (
        sh -c 'echo $PPID' >$tree/$own/cgroup.procs
        sleep 0 # a process of its own
        : >/tmp/is_started
    ) 2>/dev/null
    check "a second process in a world's group is refused" gone /tmp/is_started
    check "which the kernel counts" [ "$(field $own/pids.events max)" -gt 0 ]
}

test_another_life() { # GROUP
    local before=$world
    kill -9 $world
    check "another world is started" wait_until world_is_in $1/sandlot-world-$host $before
    check_bounds $1
}

test_own() {
    echo "# a cgroup of its own, as root"
    make_group own "cpu memory pids"
    check "the world runs" start_world own
    check "all layers of the jail" log_has 'all layers'
    check_bounds own
    test_processor own
    test_memory own
    test_processes own
    test_another_life own
    stop_world
    check_removed own
}

test_user() {
    echo "# a cgroup of its own, as an ordinary user"
    make_group user "cpu memory pids"
    delegate user
    check "the world runs" start_world user "$as_player"
    check_bounds user
    stop_world
    check_removed user
}

nobody_is_in() { is "$(cat $tree/$1/*/cgroup.procs)" ""; } # the children of GROUP

test_killed() {
    echo "# a host that is killed"
    make_group killed "cpu memory pids"
    check "the world runs" start_world killed
    check "in its group" wait_until world_is_in killed/sandlot-world-$host
    kill -9 $host
    wait $host 2>/dev/null
    check "the world ends with it" wait_until nobody_is_in killed
    check "their groups can be removed" rmdir $tree/killed/*/ $tree/killed
    rm -rf /tmp/data
}

# --- none, or not all of one ----------------------------------------------------------------------

check_without() { # GROUP REASON
    check "the log says why" log_has "no cgroup ($2"
    check "the host is where it was" is "$(group_of $host)" /$1
    check "and so is the world" wait_until world_is_in "$1"
    stop_world
    check "a stop is no failure" is $stopped 0
    check "no group was made" is "$(ls -d $tree/$1/sandlot-* 2>/dev/null)" ""
}

test_without() {
    echo "# a cgroup that is not writable"
    make_group locked "cpu memory pids"
    check "the world runs" start_world locked "$as_player"
    check_without locked "the cgroup is not writable"

    echo "# a cgroup with others in it"
    make_group shared "cpu memory pids"
    sleep 600 &
    local other=$!
    echo $other >$tree/shared/cgroup.procs
    check "the world runs" start_world shared
    check_without shared "other programs run"
    kill $other

    echo "# the cgroup of the whole system"
    check "the world runs" start_world .
    check_without "" "this is the cgroup of the whole system"
}

test_some_controllers() {
    echo "# a cgroup with the controller memory alone"
    echo "-cpu -pids" >$tree/cgroup.subtree_control
    make_group some memory
    check "the world runs" start_world some
    check "the log names it" log_has 'cgroup: memory$'
    check "the memory is bounded" [ "$(cat $tree/some/sandlot-world-$host/memory.max)" != max ]
    check "nothing bounds the time" gone $tree/some/sandlot-world-$host/cpu.max
    stop_world
    check_removed some

    echo "# a cgroup with no controllers"
    echo "-memory" >$tree/cgroup.subtree_control
    make_group none ""
    check "the world runs" start_world none
    check_without none "the cgroup has none of the controllers"
    echo "+cpu +memory +pids" >$tree/cgroup.subtree_control
}

# A container sees its own cgroup as the root of all.
test_container() {
    echo "# a container"
    make_group container "cpu memory pids"
    check "the world runs" start_world container \
        "exec own-cgroup --cgroup --mount sh -c 'umount $tree; mount -t cgroup2 cgroup2 $tree; $run'"
    check_bounds container
    stop_world
    check_removed container
}

uname -sr
check "the kernel has the controllers" grep -q 'cpu.* memory .*pids' $tree/cgroup.controllers
test_own
test_user
test_killed
test_without
test_some_controllers
test_container
echo "RESULT: $failed"
poweroff -f
