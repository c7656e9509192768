"""CPU time of a process and all its descendants, from /proc."""

import os

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def parse_stat(text):
    """(parent's pid, own ns, ns of ended and waited-for children) from the text of /proc/PID/stat (proc(5)).

    The name in parentheses may itself hold blanks and parentheses: fields are counted from the last one.
    """
    fields = text[text.rindex(")") + 1 :].split()
    state_is_field = 3
    field = lambda number: int(fields[number - state_is_field])
    return field(4), (field(14) + field(15)) * TICK_NS, (field(16) + field(17)) * TICK_NS


def _thread_ns(pid):
    """Nanoseconds on a CPU of the living threads; 0 where the kernel does not say. Finer than the ticks of stat, which
    lose up to 10 ms a process: much for a hundred processes that each did little."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
    except (OSError, IndexError, ValueError):
        pass
    return total


def snapshot():
    """{pid: (parent's pid, own ns, ended children's ns)} of all processes."""
    processes = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                processes[int(name)] = parse_stat(file.read())
        except (OSError, ValueError):
            pass  # ended meanwhile: its parent has its time once it was waited for
    return processes


def tree(processes, root):
    """Pids of ROOT and its descendants in a snapshot."""
    children = {}
    for pid, (parent, _, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    found, todo = [], [root] if root in processes else []
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo.extend(children.get(pid, []))
    return found


def cpu_ns(root):
    """User and system time that the tree of ROOT has used so far, processes that have ended included."""
    processes = snapshot()
    total = 0
    for pid in tree(processes, root):
        _, own, ended = processes[pid]
        total += max(own, _thread_ns(pid)) + ended
    return total
