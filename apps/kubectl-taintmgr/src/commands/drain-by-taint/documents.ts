// The outcome of a drain as json and yaml.
import type { DrainPod, PlannedPod, SoloDrainConfig } from '@taintmgr/core/drain';
import { formatDeadline, formatTime, type Instant } from '@taintmgr/core/time';
import { apiVersion, blockerDocument, taintDocument } from '@taintmgr/k8s-adapter/explain';
import type { Verdicts } from './failure-report.ts';
import { type DrainResult, type DrainSight, deleterText } from './outcome.ts';
import { goesAnyway } from './plan-table.ts';
import { isToGo, tallyOf } from './progress.ts';
import type { DrainSettings } from './settings.ts';

/** The outcome of one node, or the expected one. */
export interface NodeOutcome {
  readonly name: string;
  readonly zone: string;
  /** Left out: the drain has no waves. */
  readonly wave?: string | undefined;
  readonly phase: string;
  readonly reason?: string | undefined;
  readonly cordoned: boolean;
  readonly tainted: boolean;
  readonly total: number;
  readonly gone: number;
  /** The pods that others deleted, of those gone. */
  readonly deletedByOthers: number;
  readonly pods: readonly object[];
  /** The names of those that went, or would. */
  readonly gonePods: readonly string[];
}

/** Everything that the document of a drain says. */
export interface DrainReport {
  readonly settings: DrainSettings;
  readonly result: DrainResult;
  /** The name that `undo` takes; null: nothing was changed. */
  readonly id: string | null;
  readonly startedAt: Instant;
  readonly finishedAt: Instant;
  /** The reason for a refusal or an early end; null: there is nothing to add. */
  readonly message: string | null;
  readonly nodes: readonly NodeOutcome[];
}

/** The report on a drain that has just ended. */
export function drainReport(
  { settings, startedAt }: Pick<DrainReport, 'settings' | 'startedAt'>,
  result: DrainResult,
  nodes: readonly NodeOutcome[],
  { id = null, message = null }: Partial<Pick<DrainReport, 'id' | 'message'>> = {},
): DrainReport {
  return { settings, result, id, startedAt, finishedAt: Date.now(), message, nodes };
}

/** The document; `.status.result` is what scripts should go by. */
export function drainDocument(report: DrainReport): object {
  const { settings, result, id, startedAt, finishedAt, message, nodes } = report;
  const { taint, effectReason, budgets, dryRun } = settings;
  const policy = budgets.kind === 'deleteAfter' ? 'delete-after' : budgets.kind;
  return {
    apiVersion,
    kind: 'Drain',
    spec: {
      taint: taintDocument(taint),
      effectReason: effectReason ?? undefined,
      dryRun,
      pdbPolicy: policy,
      deleteAfterSeconds: budgets.kind === 'deleteAfter' ? budgets.afterMs / 1000 : undefined,
    },
    status: {
      result,
      id: id ?? undefined,
      startedAt: formatTime(startedAt),
      finishedAt: formatTime(finishedAt),
      message: message ?? undefined,
      nodes: nodes.map(({ gonePods: _, ...node }) => node),
    },
  };
}

type Changes = ReadonlyMap<string, Pick<NodeOutcome, 'cordoned' | 'tainted'>>;

/** The outcomes of the nodes of a drain that was carried out; `verdicts`: of budgets that hold pods. */
export function outcomes(
  machine: DrainSight,
  changes: Changes,
  verdicts: Verdicts,
): readonly NodeOutcome[] {
  return machine.nodes().map(({ name, zone, wave, phase }) => {
    const pods = machine.pods().filter(({ pod }) => pod.nodeName === name);
    return {
      name,
      zone,
      wave: wave.name || undefined,
      phase: capital(phase.kind),
      reason: phase.kind === 'failed' ? phase.why : undefined,
      ...changesOf(name, changes),
      ...tallyOf(pods),
      pods: pods.map((pod) => podDocument(pod, verdicts)),
      gonePods: pods.filter(({ state }) => state.kind === 'gone').map(({ pod }) => pod.name),
    };
  });
}

/** The outcomes that a drain would have. */
export function plannedOutcomes(
  targets: SoloDrainConfig['targets'],
  pods: readonly PlannedPod[],
  changes: Changes,
): readonly NodeOutcome[] {
  return targets.map(({ name, zone, wave }) => {
    const here = pods.filter(({ pod }) => pod.nodeName === name);
    return {
      name,
      zone,
      wave: wave?.name || undefined,
      phase: 'Planned',
      ...changesOf(name, changes),
      total: here.filter(({ fate }) => ['evict', 'leaving'].includes(fate.kind)).length,
      gone: 0,
      deletedByOthers: 0,
      pods: here.map(plannedDocument),
      gonePods: here.filter(({ fate }) => fate.kind === 'evict').map(({ pod }) => pod.name),
    };
  });
}

function changesOf(name: string, changes: Changes): Pick<NodeOutcome, 'cordoned' | 'tainted'> {
  const { cordoned = false, tainted = false } = changes.get(name) ?? {};
  return { cordoned, tainted };
}

function podDocument(pod: DrainPod, verdicts: Verdicts): object {
  const { state, because, due, tries, blocker, deleted } = pod;
  const { namespace, name, uid } = pod.pod;
  return {
    namespace,
    name,
    uid,
    state: capital(state.kind),
    reason: state.kind === 'left' ? state.faults.join(',') : because[0]?.code,
    due: due === null ? undefined : formatDeadline(due),
    goneAt: state.kind === 'gone' ? formatTime(state.at) : undefined,
    deletedBy: deletedBy(pod),
    ...(isToGo(pod) && { attempts: tries, deleted }),
    heldBy: state.kind === 'gone' ? undefined : pod.hold?.message,
    blocker:
      state.kind === 'gone' || blocker === null
        ? undefined
        : { ...blocker, verdict: verdicts.get(uid)?.verdict ?? blocker.verdict },
  };
}

/** The one who deleted the pod, where that was not the drain. */
function deletedBy({ state, taken }: DrainPod): string | undefined {
  const by = taken ?? (state.kind === 'gone' ? state.departure : null);
  return by?.kind === 'foreign' ? deleterText(by) : undefined;
}

function plannedDocument({ pod, fate, because, blockers }: PlannedPod): object {
  return {
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    action: capital(fate.kind === 'leaving' ? 'wait' : fate.kind),
    reason: 'faults' in fate ? fate.faults.join(',') : because[0]?.code,
    deletedBy: goesAnyway(fate) ? 'daemonset-controller' : undefined,
    due: fate.kind === 'evict' ? formatDeadline(fate.at) : undefined,
    blockers: blockers.map(blockerDocument),
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
