// The controllers of a cluster as status shows them: how each is known, and what leaders say of themselves.
import { formatDuration, formatTime, type Instant } from '@taintmgr/core/time';
import { type Evictors, verdictText } from '@taintmgr/k8s-adapter';
import { ago } from '@taintmgr/k8s-adapter/explain';
import { isFresh, type TaintManager, upstreamVerdict } from '@taintmgr/k8s-adapter/survey';
import { type Field, renderFields, type TableOptions } from '../../render/table.ts';

const settingsShown = ['mode', 'delete-after', 'semantics', 'allow-overlap'];

interface Controllers {
  readonly at: Instant;
  readonly evictors: Evictors;
  /** The published status of leaders. */
  readonly managers: readonly TaintManager[];
}

/** A line for each controller and each leader. */
export function identities(
  { at, evictors, managers }: Controllers,
  options: TableOptions,
): readonly string[] {
  return renderFields(
    [
      ['kube-controller-manager', verdictText(upstreamVerdict(evictors))],
      ['taintmgr-controller', verdictText(evictors.taintmgr, 'runs')],
      ...managers.flatMap((manager) => managerFields(at, manager)),
    ],
    options,
  );
}

/** The published status of a leader, and its age. */
function managerFields(now: Instant, manager: TaintManager): readonly Field[] {
  const { name, leader, version, startedAt, renewedAt, isResigned, settings, troubles } = manager;
  const who = `${leader} ${version}`;
  const heard = renewedAt === null ? 'at an unknown time' : ago(now, renewedAt);
  const since = startedAt === null ? '' : ` since ${formatTime(startedAt)}`;
  const label = `TaintManager ${name}`;
  const shown = settingsShown.flatMap((flag) => {
    return settings[flag] === undefined ? [] : [`--${flag}=${settings[flag]}`];
  });
  const takeover = settings.takeover === 'true' ? ['--takeover'] : [];
  if (isResigned) return [[label, `${who} stopped leading ${heard}`]];
  if (!isFresh(manager, now)) {
    const age = renewedAt === null ? 'lately' : `for ${formatDuration(now - renewedAt)}`;
    return [[label, `${who} was not heard of ${age}`]];
  }
  const isDry = manager.shadow !== null;
  return [
    [label, `${who} ${isDry ? 'keeps score' : 'leads'}${since}, heartbeat ${heard}`],
    ...(isDry ? [['', 'see: kubectl taintmgr status --shadow'] as const] : []),
    ...(shown.length === 0 ? [] : [['', [...shown, ...takeover].join(' ')] as const]),
    ...troubles.map((text) => ['', text] as const),
  ];
}
