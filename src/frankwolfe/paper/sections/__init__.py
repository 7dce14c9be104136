"""The sections of the reproduction: each lists its pieces of work, draws what came out, and judges what it shows.

The judge of a claim is the function of its key, with underscores.
"""

from types import ModuleType

from frankwolfe.paper.sections import (
    certificate_quality,
    dataset_table,
    fig1,
    fig2,
    fig3,
    fig4,
    iteration_cost,
    proven_constants,
    radius_maps,
    rate_reasons,
    rates_on_sets,
)

MODULES: dict[str, ModuleType] = {
    "certificates": certificate_quality,
    "fig1": fig1,
    "fig2": fig2,
    "fig3": fig3,
    "maps": radius_maps,
    "fig4": fig4,
    "beyond": rates_on_sets,
    "proven": proven_constants,
    "why": rate_reasons,
    "cost": iteration_cost,
    "table": dataset_table,
}
