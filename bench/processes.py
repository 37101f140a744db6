"""Whole programs: how long they take and how much memory they hold."""
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
