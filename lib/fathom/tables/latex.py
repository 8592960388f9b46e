"""A sheet as LaTeX, with booktabs."""

from collections.abc import Sequence

from fathom.tables.layout import Grid, Sheet, Shown

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # A bracket that begins a row would be taken for the line break's argument.
    "[": "{[}",
    "]": "{]}",
    "±": r"$\pm$",
    "†": r"$^{\dagger}$",
    "–": "--",
    "§": r"\S{}",
    "Σ": r"$\Sigma$",
    "Δ": r"$\Delta$",
    "Θ": r"$\Theta$",
    "α": r"$\alpha$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "½": r"$\frac{1}{2}$",
    "×": r"$\times$",
}


def page(sheet: Sheet, label: str) -> str:
    """Return a sheet as a LaTeX table environment, to be included by a document.

    Args:
        sheet: the sheet.
        label: the name by which the document refers to it.
    """
    lines = [
        r"% Needs \usepackage{booktabs} and \usepackage{graphicx}.",
        r"\begin{table}",
        r"\centering\footnotesize",
        rf"\caption{{{escape(sheet.title)}. {escape(sheet.caption)}}}",
        rf"\label{{{label}}}",
    ]
    for grid in sheet.grids:
        if grid.heading:
            lines.append(rf"\par\medskip\textbf{{{escape(grid.heading)}}}\par\smallskip")
        lines += _tabular(grid)
        if grid.note:
            lines.append(rf"\par\smallskip\raggedright {escape(grid.note)}\par\centering")
    lines.append(r"\par\smallskip\raggedright")
    lines += [escape(note) + r"\par" for note in sheet.notes]
    lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Return text in which no character is a command of LaTeX."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def _tabular(grid: Grid) -> list[str]:
    alignment = "".join("l" if at in grid.texts else "r" for at in range(len(grid.header)))
    lines = [
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{@{{}}{alignment}@{{}}}}",
        r"\toprule",
        " & ".join(escape(title) for title in grid.header) + r" \\",
        r"\midrule",
        *(_row(row) for row in grid.body),
    ]
    if grid.footer:
        lines += [r"\midrule", _row(grid.footer)]
    return [*lines, r"\bottomrule", r"\end{tabular}}"]


def _row(row: Sequence[Shown]) -> str:
    fields = []
    for each in row:
        if each.span > 1:
            fields.append(rf"\multicolumn{{{each.span}}}{{c}}{{{escape(each.text)}}}")
        elif each.span == 1:
            fields.append(escape(each.whole))
    return " & ".join(fields) + r" \\"
