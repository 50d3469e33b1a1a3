"""JUnit XML: a suite for each file with findings, a failure for each finding, and an error for what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from compilelint.escaping import escape
from compilelint.finding import Finding, Severity
from compilelint.report.run import Run
from compilelint.report.text import fix_line, reason_lines


def write(findings: Sequence[Finding], run: Run) -> str:
    """Findings of severity note pass: they fail no run."""
    root = Element("testsuites", name="compilelint", tests="0", failures="0", errors="0")
    for path, group in groupby(findings, key=lambda finding: finding.span.path):
        suite = _suite(root, path)
        for finding in group:
            _case(suite, finding, run)
    for failure in run.failures:
        suite = _suite(root, "compilelint")
        SubElement(SubElement(suite, "testcase", name="error", classname="compilelint"), "error", message=_xml(failure))
    if not len(root):
        SubElement(_suite(root, "compilelint"), "testcase", name="no findings", classname="compilelint")
    for suite in root:
        _count(suite, [suite])
    _count(root, list(root))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, name: str) -> Element:
    return SubElement(root, "testsuite", name=_xml(name), package="compilelint")


def _case(suite: Element, finding: Finding, run: Run) -> None:
    span = finding.span
    place = f"{run.place(span.path, span.line)}:{span.column}"
    line = str(run.on_disk(span.path, span.line))
    name = f"{finding.code} {place}"
    case = SubElement(suite, "testcase", name=_xml(name), classname=_xml(span.path), file=_xml(span.path), line=line)
    text = _xml("\n".join([f"{place}: {finding.message}", *reason_lines(finding, run), *fix_line(finding)]))
    if finding.severity is Severity.NOTE:
        SubElement(case, "system-out").text = text
    else:
        failure = SubElement(case, "failure", type=finding.severity.value, message=_xml(finding.message))
        failure.text = text


def _count(element: Element, suites: Sequence[Element]) -> None:
    cases = [case for suite in suites for case in suite.iter("testcase")]
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", str(sum(case.find("error") is not None for case in cases)))


def _xml(text: str) -> str:
    return escape(text, keep="\t\n")
