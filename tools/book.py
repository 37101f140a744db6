#!/usr/bin/env python3
"""The book in docs/: writes the page of options, checks every link, runs every command of its console blocks, and looks up
those that stand elsewhere: they need what is not here.

    tools/book.py options PROGRAM [--check]   docs/options.md, from the program's own help
    tools/book.py links                       files and headings that links lead to exist; every chapter is in the summary
    tools/book.py run PROGRAM                 console blocks, in a folder with the recordings of a synthetic pump; of other
                                              commands, also in READMEs, whether the program has them and their options
"""
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import wave
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Told and checked by tools/story.sh; made by tools/book.py itself.
NOT_RUN = {"first-hour.md", "options.md"}


def text_outside_code(markdown):
    return re.sub(r"^```.*?^```$", "", markdown, flags=re.M | re.S)


def anchor(heading):
    """The name GitHub and mdBook give to a heading."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(path):
    return {anchor(found) for found in re.findall(r"^#+ (.+)$", text_outside_code(path.read_text()), re.M)}


def check_links():
    problems = []
    pages = sorted(DOCS.rglob("*.md")) + sorted(ROOT.glob("*.md")) + sorted((ROOT / "crates").glob("*/README.md"))
    for page in pages:
        body = re.sub(r"`[^`\n]*`", "", text_outside_code(page.read_text()))
        for target in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", body):
            link = target[0] or target[1]
            if re.match(r"[a-z]+:", link):
                continue
            path, _, name = link.partition("#")
            other = (page.parent / path).resolve() if path else page
            if not other.exists():
                problems.append(f"{page.relative_to(ROOT)}: {link} does not exist")
            elif name and other.suffix == ".md" and name not in anchors(other):
                problems.append(f"{page.relative_to(ROOT)}: {link} has no such heading")
    listed = set(re.findall(r"\]\(([^)]+)\)", (DOCS / "SUMMARY.md").read_text()))
    chapters = {page.name for page in DOCS.glob("*.md")} - {"SUMMARY.md"}
    problems += [f"docs/SUMMARY.md lacks {name}" for name in sorted(chapters - listed)]
    return problems


def commands(program, path=()):
    """The names of all subcommands that help shows, each as a tuple."""
    shown = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=True).stdout
    listed = re.search(r"^Commands:\n((?:  .*\n|\n)+)", shown, re.M)
    names = re.findall(r"^  ([a-z-]+)(?:  |$)", listed.group(1), re.M) if listed else []
    for name in names:
        if name != "help":
            yield (*path, name)
            yield from commands(program, (*path, name))


def options_page(program):
    lines = ["# Every option", "", "Printed by the program itself (`tools/book.py options`).", ""]
    for path in [(), *commands(program)]:
        shown = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=True,
                               env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}).stdout
        shown = "\n".join(line.rstrip() for line in shown.rstrip().splitlines())
        lines += [f"## {' '.join(('auscult', *path))}", "", "```text", shown, "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def console_blocks(page):
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.M | re.S):
        yield [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def other_commands(page):
    """Commands of a page that are in no console block, without what stands behind them."""
    text = re.sub(r"^```console\n.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for line in re.findall(r"^ {4}(auscult .*)$", re.sub(r" *\\\n *", " ", text), re.M):
        yield re.split(r"  +# |   +|[|>]", line)[0]


def unknown_parts(program, line, helps):
    """Subcommands and options of a command line that the program does not have."""
    words = shlex.split(line)[1:]
    path = ()
    while words and words[0] in helps[path][0]:
        path += (words.pop(0),)
        if path not in helps:
            helps[path] = help_of(program, path)
    subcommands, shown = helps[path]
    if subcommands and "<COMMAND>" in shown.partition("\n\n")[2].partition("\n")[0]:
        return [f"{' '.join(('auscult', *path))} has no subcommand {words[:1]}"]
    options = [word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)]
    return [f"{' '.join(('auscult', *path))} has no {name}" for name in options if not re.search(rf"(?<!\S){name}(?![\w-])", shown)]


def help_of(program, path):
    shown = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=True).stdout
    listed = re.search(r"^Commands:\n((?:  .*\n|\n)+)", shown, re.M)
    return set(re.findall(r"^  ([a-z-]+)(?:  |$)", listed.group(1), re.M)) if listed else set(), shown


def look_up_commands(program):
    helps, problems, count = {(): help_of(program, ())}, [], 0
    for page in [*sorted(DOCS.glob("*.md")), ROOT / "README.md", *sorted((ROOT / "crates").glob("*/README.md"))]:
        if page.name == "options.md":
            continue
        for line in other_commands(page):
            count += 1
            problems += [f"{page.relative_to(ROOT)}: `{line}`: {what}" for what in unknown_parts(program, line, helps)]
    return problems, count


def prepare(program, folder):
    """What the chapters name: recordings/ with visits, today/, april/, the models pump.auscult and fan.auscult, and of an
    accelerometer bearing/, the same as tables in bearing-tables/, and today.csv."""
    def run(*arguments):
        subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)
    short = ["--layout", "visits", "--train", "24", "0", "--test", "4", "0", "--visits", "6"]
    for machine in ("pump", "fan"):
        run("synth", "--out", machine, "--machine", machine, *short)
    shutil.copytree(folder / "pump/pump/normal", folder / "recordings")
    shutil.copytree(folder / "pump/pump/check", folder / "today")
    shutil.copy(min((folder / "today").glob("*.wav")), folder / "today/odd.wav")
    run("synth", "--out", "later", "--machine", "pump", "--seed", "2", *short)
    shutil.copytree(folder / "later/pump/normal/visit_01", folder / "april")
    shutil.copytree(folder / "fan/fan/check", folder / "fan-today")
    run("fit", "recordings", "-o", "pump.auscult", "--preset", "fast")
    run("fit", "fan/fan/normal", "-o", "fan.auscult", "--preset", "fast")
    random = Random(1)
    for name in ("bearing", "bearing-tables"):
        (folder / name).mkdir()
    for number in range(8):
        values = [random.uniform(-8, 8) for _ in range(6 * 25_600)]
        with wave.open(str(folder / f"bearing/{number}.wav"), "wb") as sound:
            sound.setparams((1, 2, 25_600, 0, "NONE", ""))
            sound.writeframes(b"".join(struct.pack("<h", round(2_048 * value)) for value in values))
        table = "acceleration\n" + "".join(f"{value:.5f}\n" for value in values)
        (folder / f"bearing-tables/{number}.csv").write_text(table)
    shutil.copy(folder / "bearing-tables/0.csv", folder / "today.csv")


def run_commands(program):
    problems, count = [], 0
    chapters = [name for name in re.findall(r"\]\(([^)]+)\)", (DOCS / "SUMMARY.md").read_text()) if name not in NOT_RUN]
    with tempfile.TemporaryDirectory() as name:
        made, bin_folder = Path(name) / "made", Path(name) / "bin"
        made.mkdir()
        bin_folder.mkdir()
        (bin_folder / "auscult").symlink_to(program)
        prepare(program, made)
        for chapter in chapters:
            blocks = list(console_blocks(DOCS / chapter))
            if not blocks:
                continue
            folder = Path(name) / chapter
            shutil.copytree(made, folder)
            for line in (line for block in blocks for line in block):
                count += 1
                path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
                ran = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                     env={**os.environ, "PATH": path}, timeout=300)
                if ran.returncode != 0:
                    problems.append(f"docs/{chapter}: `{line}` ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
    return problems, count


def main():
    what, *rest = sys.argv[1:] or ["--help"]
    if what == "links":
        problems, said = check_links(), "every link leads somewhere"
    elif what == "options" and rest:
        page, path = options_page(rest[0]), DOCS / "options.md"
        if "--check" in rest:
            problems = [] if path.exists() and path.read_text() == page else ["docs/options.md is not what the program says; tools/book.py options PROGRAM"]
        else:
            path.write_text(page)
            problems = []
        said = "docs/options.md is what the program says"
    elif what == "run" and rest:
        program = Path(rest[0]).resolve()
        problems, looked_up = look_up_commands(program)
        failed, count = run_commands(program)
        problems += failed
        said = f"{count} commands of the book work, and the program knows {looked_up} others"
    else:
        sys.exit(__doc__)
    for problem in problems:
        print(f"book: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"book: {said}")


main()
