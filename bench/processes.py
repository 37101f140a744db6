"""Whole programs: how long they take and how much memory they hold."""
import os
import shutil
import subprocess
import time
from pathlib import Path


def timed_process(command):
    """Seconds a command takes."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def peak_memory(command):
    """The most memory a command holds, in MB: watched, since what the system reports of a child
    includes what this script held when it started it. Of several processes, the first."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            is_started = Path(f"/proc/{process.pid}/exe").samefile(shutil.which(command[0]))
        except OSError:
            # It has just ended.
            break
        if is_started:
            lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
            peak = max([peak] + [int(line.split()[1]) for line in lines])
        time.sleep(0.001)
    process.wait()
    return peak / 1024


def peak_memory_and_seconds(command):
    """Seconds, the most memory in MB, and processor seconds of a long command; exit code 2 (in part) is none to stop at."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        raise SystemExit(f"{command} ended with {process.returncode}")
    return time.perf_counter() - start, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
