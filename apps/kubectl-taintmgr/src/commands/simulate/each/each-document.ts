// The answer of `simulate --each` as json, of which the page has the shape.
import { formatTime } from '@taintmgr/core/time';
import { count, rulesOf } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import type { EachDocument, Loss, LostBy } from '@taintmgr/page';
import { commandOf } from '../command-text.ts';
import type { SimulateFlags } from '../flags.ts';
import type { Script } from '../script/script.ts';
import { managerFlagsText } from '../stage/manager-flags.ts';
import { managerSettings } from '../stage/run.ts';
import type { Variant } from '../variants.ts';
import type { Baseline } from './loss-player.ts';
import type { PlannedLoss } from './plan.ts';

/** All that was played. */
interface Played {
  readonly flags: SimulateFlags;
  readonly each: string;
  readonly by: LostBy;
  readonly variant: Variant;
  readonly script: Script;
  readonly baseline: Baseline;
  readonly planned: readonly PlannedLoss[];
  /** In the same order; null: it was not played. */
  readonly losses: readonly (Loss | null)[];
}

/** Puts the answer together. */
export function eachDocument(played: Played): EachDocument {
  const { flags, each, by, variant, script, baseline, planned, losses } = played;
  const { source, semantics } = variant;
  const { seed, seeds, until } = flags;
  const isManager = semantics === 'upstream-1.36';
  const manager = isManager ? managerSettings(source, script) : null;
  return {
    apiVersion,
    kind: 'LossSimulation',
    source: source.name,
    ...{ each, by, seed },
    ...(seeds > 1 && { seeds }),
    startsAt: formatTime(source.startsAt),
    untilSeconds: until / 1000,
    rules: rulesOf(semantics),
    ...(manager && { managerFlags: managerFlagsText(manager) }),
    complete: source.missing.length === 0,
    missing: source.missing,
    notes: [...source.notes, ...baselineNote(baseline)],
    // A command that plays one loss alone leaves out the flags about all losses and about their page.
    command: commandOf({ ...flags, each: undefined, by: undefined, failIf: [], report: undefined }),
    unplayed: planned.filter((_, index) => !losses[index]).map(nameOf),
    losses: losses.filter((loss) => loss !== null).sort(worstFirst),
  };
}

/** `zone-a`, or `zone-a by maintenance:NoExecute` */
export function nameOf({ name, taint }: Pick<Loss, 'name' | 'taint'>): string {
  return taint === undefined ? name : `${name} by ${taint}`;
}

/** `zone eu/eu-a`, `node node-1 by maintenance:NoExecute`, `nodes without pool` */
export function lossText(each: string, loss: Pick<Loss, 'name' | 'taint'>): string {
  const name = nameOf(loss);
  return name.startsWith('without ') ? `nodes ${name}` : `${each} ${name}`;
}

/** Of what happens without any loss figures of losses have their part too, but for pods without room. */
function baselineNote({ evictions, totals, unplaced }: Baseline): readonly string[] {
  const minutes = totals.podMinutesLost;
  const rounded = `${Math.round(minutes * 10) / 10} pod-minutes`;
  const what = `${count(evictions, 'eviction')} and ${rounded}`;
  const pending = unplaced.atEnd === 1 ? '1 pod is' : `${unplaced.atEnd} pods are`;
  return [
    ...(evictions === 0 && minutes === 0
      ? []
      : [`without any loss there are ${what}, which the figures of each loss contain`]),
    ...(unplaced.atEnd === 0
      ? []
      : [`without any loss ${pending} Pending without room, which no loss counts`]),
  ];
}

/** Sorts the worst loss first and failed losses last; equally bad losses keep their order. */
function worstFirst(one: Loss, other: Loss): number {
  const differences = [
    Number(one.failed !== null) - Number(other.failed !== null),
    other.podMinutesLost - one.podMinutesLost,
    other.unplaced.atEnd - one.unplaced.atEnd,
    other.blocked - one.blocked,
    belowMaxOf(other) - belowMaxOf(one),
    other.evictions - one.evictions,
  ];
  return differences.find((difference) => difference !== 0) ?? 0;
}

function belowMaxOf({ budgets }: Loss): number {
  return budgets.reduce((most, { belowMax }) => Math.max(most, belowMax), 0);
}
