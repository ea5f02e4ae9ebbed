"""Opens each export of charz with the program that it is for; the first argument is the folder of the exports, the second that of
hyperfine's scripts. Ends with 1 if one does not read what the report says."""

import gzip
import json
import pathlib
import sqlite3
import subprocess
import sys

import junitparser
import pandas
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

folder, scripts = (pathlib.Path(word) for word in sys.argv[1:3])
report = json.loads((folder / "report.json").read_text())
cells = report["derived"]["cells"]
values = sorted(cell["value"] for cell in cells if cell["value"] is not None)
assert values, "the report has no number"


def near(found, expected):
    found = sorted(float(one) for one in found)
    assert len(found) == len(expected), (found, expected)
    assert all(abs(one - other) <= 1e-9 * abs(other) for one, other in zip(found, expected)), (found, expected)


def of_pandas():
    table = pandas.read_csv(folder / "table.csv")
    near(table["value"].dropna(), values)
    assert not [name for name in table if table[name].isna().all() and name not in ("low", "high")]
    compared = pandas.read_csv(folder / "compare.csv")
    assert len(compared) == len(cells) and (compared["ratio"].dropna() > 0).all()
    rows = sqlite3.connect(folder / "history.db").execute("SELECT summary FROM report ORDER BY id")
    reports = [json.loads(gzip.decompress(summary)) for (summary,) in rows]
    history = pandas.json_normalize(reports, ["derived", "cells"], ["id", "started"], record_prefix="cell.")
    near(history["cell.value"].dropna(), values)
    return f"{len(table)} rows of {len(table.columns)} columns"


def of_prometheus():
    text = (folder / "report.prom").read_text()
    families = list(openmetrics(text))
    both = [families, list(prometheus(text))]
    for read in both:
        samples = [sample for family in read for sample in family.samples]
        with_id = {sample.name for sample in samples if "report" in sample.labels}
        assert with_id == {"charz_report_info"}, with_id
        numbers = [one.value for one in samples if one.name.startswith(("charz_throughput", "charz_latency")) and
                   "_low_" not in one.name and "_high_" not in one.name]
        assert len(numbers) == len(values), (numbers, values)
    return f"{len(families)} families"


def of_junit():
    found = []
    for name in ("compare", "doctor", "check"):
        suites = list(junitparser.JUnitXml.fromfile(str(folder / f"{name}.xml")))
        cases = [case for suite in suites for case in suite]
        assert cases and suites[0].tests == len(cases), name
        broken = [case for case in cases if any(isinstance(one, junitparser.Failure) for one in case.result)]
        assert suites[0].failures == len(broken), name
        found.append(f"{name} {len(cases)}")
    return ", ".join(found)


def of_trackers():
    bmf = json.loads((folder / "bmf.json").read_text())
    near((metric["value"] for one in bmf.values() for metric in one.values()), values)
    lists = [json.loads((folder / f"{name}-is-better.json").read_text()) for name in ("bigger", "smaller")]
    near((one["value"] for entries in lists for one in entries), values)
    assert all({"name", "unit", "value"} <= one.keys() for entries in lists for one in entries)
    return f"{len(bmf)} benchmarks"


def of_hyperfine():
    times = folder / "hyperfine.json"
    for script, more in (("plot_whisker", ["-o", "whisker.png"]), ("plot_histogram", ["-o", "histogram.png"]),
                         ("plot_progression", ["-o", "progression.png"]), ("advanced_statistics", [])):
        command = [sys.executable, "-W", "ignore", scripts / f"{script}.py", times, *more]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
    return ", ".join(sorted(path.name for path in folder.glob("*.png")))


for reader in (of_pandas, of_prometheus, of_junit, of_trackers, of_hyperfine):
    print(f"{reader.__name__.removeprefix('of_'):<12}{reader()}")
