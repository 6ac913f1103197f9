"""Whether a plan can be applied to a target: what must be so, and what people should know before."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.columns.selection import Operations, Selection
from binspark.diff.gtids import MariadbGtids
from binspark.frames.format import Family
from binspark.gtid import MariadbGtid
from binspark.restore.plan import Decision, Plan
from binspark.restore.target import Target

_TITLES = {Family.MYSQL: "MySQL", Family.MARIADB: "MariaDB"}


def obstacles(plan: Plan, target: Target, selection: Selection) -> Iterator[str]:
    """Yield the reasons why a plan must not be applied."""
    if plan.family is not target.family:
        yield f"the logs are those of {_TITLES[plan.family]} {plan.server_version}, the target is {target.version}"
    missing = "" if selection.start_position is not None else _gap(plan, target, selection)
    if missing:
        yield (
            f"the target lacks transactions from before the first log: {missing}; restore an older backup's logs, "
            "or say with --exclude-gtids that the target has them"
        )
    own = _own_gtids(plan, target)
    if own:
        yield (
            f"the target has GTIDs of its own, up to {own}, with the server_id and domain of transactions in the logs: "
            "which of those it has cannot be known. Say it with --exclude-gtids, or give the target another server_id "
            "before the backup is loaded"
        )


def warnings(plan: Plan, target: Target | None, selection: Selection) -> Iterator[str]:
    """Yield what people should know."""
    if plan.damage is not None:
        yield f"the last log is cut off; what comes before that is applied: {plan.damage}"
    if plan.anonymous:
        yield (
            f"{plan.anonymous:,} transactions have no GTID: that each is applied once is ensured by the table "
            "binspark_restore.progress on the target; whether logs are missing before the first one cannot be known"
        )
    elif target is not None and not target.keeps_gtids:
        yield "the target keeps no GTIDs: progress is stored in the table binspark_restore.progress"
    if plan.statements:
        yield (
            f"{plan.statements:,} changes are logged as statements (binlog_format): executed again, they may have "
            "another result"
        )
    by_table = selection.tables is not None or bool(selection.excluded)
    if by_table or selection.operations is not Operations.ALL or selection.where is not None:
        yield "some tables, operations or rows are not applied: transactions are incomplete, under the same GTIDs"
    if plan.counts[Decision.INCOMPLETE]:
        yield f"{plan.counts[Decision.INCOMPLETE]:,} transactions at the end of a log are incomplete, and not applied"


def _gap(plan: Plan, target: Target, selection: Selection) -> str:
    missing = target.lacks(plan.gtids_before)
    if not missing or selection.exclude_gtids is None:
        return missing
    from binspark.gtid import GtidSet

    if isinstance(plan.gtids_before, GtidSet) and isinstance(selection.exclude_gtids, GtidSet):
        return str(GtidSet(missing) - selection.exclude_gtids)
    if not isinstance(plan.gtids_before, GtidSet) and plan.gtids_before is not None:
        left = [gtid for gtid in plan.gtids_before if not selection_has(selection, gtid)]
        return ",".join(map(str, left))
    return missing


def selection_has(selection: Selection, gtid: MariadbGtid) -> bool:
    """Return whether a GTID is among those that are left out."""
    return selection.exclude_gtids is not None and not selection.wants_gtid(gtid)


def _own_gtids(plan: Plan, target: Target) -> str:
    """Return the GTID that hides transactions of the logs if it is not one of them; empty if there is none."""
    if not isinstance(target.gtids, MariadbGtids) or not target.keeps_gtids or target.is_begun:
        return ""
    for gtid in target.gtids.state:
        if gtid.server == target.server_id and (gtid.domain, gtid.server) in plan.hidden:
            return str(gtid)
    return ""
