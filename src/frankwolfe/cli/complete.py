"""`frankwolfe complete` and `frankwolfe recommend`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from frankwolfe.cli.fit import Device
from frankwolfe.cli.output import Json, Quiet, number_or, show, talkative, working
from frankwolfe.cli.tables import Table, existing, writable

USUAL = {
    "user": ("user", "user_id", "userid", "customer", "customer_id"),
    "item": ("item", "item_id", "itemid", "movie", "movie_id", "movieid", "film", "product", "product_id"),
    "rating": ("rating", "ratings", "stars", "score", "value"),
}


def complete(
    ratings: Annotated[Path, typer.Argument(help="Text (comma, tab) or Parquet: one rating a row.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the model (.npz).")] = None,
    user: Annotated[str | None, typer.Option(help="Column of users; default: by its name, else the first.")] = None,
    item: Annotated[str | None, typer.Option(help="Column of items; default: by its name, else the second.")] = None,
    rating: Annotated[str | None, typer.Option(help="Column of ratings; default: by its name, else the third.")] = None,
    test: Annotated[Path | None, typer.Option(help="Ratings to measure the error on.")] = None,
    radius: Annotated[str, typer.Option(help="Bound on the trace norm, or auto.")] = "auto",
    rank_limit: Annotated[int | None, typer.Option(min=1, help="Keep at most so many factors.")] = None,
    effects: Annotated[bool, typer.Option("--effects/--no-effects", help="Fit user and item effects.")] = True,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn to predict ratings: a low-rank matrix from the entries that are known.

    Example:

        frankwolfe complete ratings.csv --out model.npz

        frankwolfe complete u1.base --test u1.test --out model.npz
    """
    shown = talkative(as_json, quiet)
    writable(out)
    with working(f"reading {ratings}", shown, quiet or as_json):
        data = _columns(Table(ratings, header=None, as_text=True), user, item, rating)
        held_out = None if test is None else _columns(Table(test, header=None, as_text=True), user, item, rating)
    from frankwolfe.estimators import MatrixCompleter

    size = number_or(radius, "auto")
    bound = "auto" if size is None else size
    model = MatrixCompleter(bound, rank_limit, effects=effects, verbose=shown, device=device)
    began = time.perf_counter()
    model.fit(*data)
    seconds = time.perf_counter() - began
    if out is not None:
        model.save(out)
    best = min((t.rmse for t in model.search_), default=None)
    facts: dict[str, Any] = {
        "ratings": len(data[2]),
        "users": len(model.users_),
        "items": len(model.items_),
        "radius": model.radius_,
        "rank": model.rank_,
        "validation_rmse": best,
        "test_rmse": None if held_out is None else -model.score(*held_out),
        "gap": model.gap_,
        "seconds": round(seconds, 3),
        "model": None if out is None else str(out),
    }
    show(facts, as_json=as_json, quiet=quiet)


def recommend(
    model: Annotated[Path, typer.Argument(help="A model that `complete` wrote.")],
    user: Annotated[str, typer.Argument(help="The user, as in the ratings.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many.")] = 10,
    seen: Annotated[bool, typer.Option("--seen", help="Also what the user has rated already.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recommend items to a user, with the rating expected of each.

    A user who is not known gets what everybody likes.

    Example:

        frankwolfe recommend model.npz 196 -n 5
    """
    from frankwolfe.estimators import MatrixCompleter

    fitted = MatrixCompleter.load(existing(model))
    known = {str(label): label for label in fitted.users_}
    best = fitted.recommend(known.get(user, user), n, exclude_seen=not seen)
    rows = [{"item": item, "rating": round(expected, 3)} for item, expected in best]
    if user not in known and not quiet:
        typer.echo(f"frankwolfe: user {user!r} is not in the model; this is what everybody likes", err=True)
    facts = {"user": user, "known": user in known, "items": rows}
    show(facts if as_json else {"items": rows}, as_json=as_json, quiet=quiet)


def pairs(table: Table) -> tuple[list[str], list[str]]:
    """Return the users and items of a table as text."""
    user, item = _names(table, user=None, item=None)
    return [str(u) for u in table.ids(user)], [str(i) for i in table.ids(item)]


def _columns(table: Table, user: str | None, item: str | None, rating: str | None) -> tuple[Any, Any, Any]:
    """Return users, items and ratings."""
    user, item, rating = _names(table, user=user, item=item, rating=rating)
    return table.ids(user), table.ids(item), table.numbers(rating, "name the column of ratings with --rating")


def _names(table: Table, **given: str | None) -> list[str]:
    """Return the names of columns: those given, else of usual names, else the first ones."""
    lower = {name.lower(): name for name in table.names}
    usual = {what: next((lower[n] for n in USUAL[what] if n in lower), None) for what in given}
    if not all(given[what] or usual[what] for what in given):
        count, (*most, last) = len(table.names), given
        if count < len(given):
            columns = f"{count} column{'s' * (count != 1)}"
            raise ValueError(f"{table.path}: {columns}, but {', '.join(most)} and {last} are needed")
        usual = dict(zip(given, table.names, strict=False))
    return [str(given[what] or usual[what]) for what in given]
