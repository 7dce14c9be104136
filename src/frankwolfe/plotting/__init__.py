"""Figures of results and comparisons; matplotlib is loaded when the first one is drawn.

`frankwolfe.plotting.html` holds the bits that self-contained report pages are made of.
"""

from frankwolfe.plotting.curves import AXES, plot_comparison, plot_path, plot_result
from frankwolfe.plotting.style import TITLES, figure, line_style, style

__all__ = ["AXES", "TITLES", "figure", "line_style", "plot_comparison", "plot_path", "plot_result", "style"]
