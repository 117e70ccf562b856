// A drain machine that takes all events itself, with settings by the short names of the transcripts.
import { type Event, parseTaint, type Taint } from '@taintmgr/core';
import {
  type DrainCommand,
  type DrainConfig,
  type DrainTarget,
  type DrainMachine as Machine,
  resolveDrainConfig,
} from '@taintmgr/core/drain';
import { type BudgetPolicy, type NodeDrainSpec, plainDrainSpec } from '@taintmgr/core/policy';
import { DrainMachine } from '../../src/drain/drain-machine.ts';
import { DrainTimes } from '../../src/drain/pod-filters.ts';
import { earlier } from '../../src/kernel/time.ts';
import { Store } from '../../src/store.ts';

/** As kubectl drain has it where nothing is said. */
export interface DrainOptions
  extends Partial<Omit<DrainConfig, 'leaving' | 'goneDaemonSets' | 'pace'>> {
  readonly respect?: 'limitless' | 'nothing' | 'tolerations';
  readonly budgets?: BudgetPolicy;
  readonly filters?: Partial<
    Readonly<Record<'deleteEmptyDirData' | 'force' | 'ignoreDaemonSets', boolean>>
  >;
  readonly goneDaemonSets?: readonly string[];
  readonly leaving?: readonly string[];
  readonly skipTerminatingMs?: number;
  readonly gracePeriodSeconds?: number;
  readonly nodesAtOnceMax?: NodeDrainSpec['limits']['nodesAtOnce'];
  readonly heldUpNodesMax?: number;
  readonly podsAtOnceMax?: number;
  readonly nodeTimeoutMs?: number;
  readonly podOrder?: {
    readonly byPriority: boolean;
    readonly last: NonNullable<NodeDrainSpec['pods']['last']>;
  };
  readonly requestsInFlightMax?: number;
  readonly blockedRetryWaitMs?: number;
}

const tolerations = { limitless: 'NoWait', nothing: 'Ignore', tolerations: 'Respect' } as const;

/** The settings of a drain by their short names. */
export function drainConfig(taint: Taint | string, options: DrainOptions = {}): DrainConfig {
  const { respect, budgets, filters = {}, podOrder, requestsInFlightMax, ...more } = options;
  const { skipTerminatingMs, gracePeriodSeconds, nodesAtOnceMax = 1, ...others } = more;
  const { heldUpNodesMax = 0, podsAtOnceMax = 0, nodeTimeoutMs, ...rest } = others;
  const { goneDaemonSets = [], leaving = [], blockedRetryWaitMs, ...own } = rest;
  const { force = false, ignoreDaemonSets = false, deleteEmptyDirData = false } = filters;
  const { key, value, effect } = typeof taint === 'string' ? parseTaint(taint) : taint;
  const spec: NodeDrainSpec = {
    ...plainDrainSpec,
    taint: { key, value, effect: effect === 'NoExecute' ? effect : 'NoSchedule' },
    tolerations: tolerations[respect ?? 'tolerations'],
    budgets: budgetsOf(budgets ?? { kind: 'respect' }),
    limits: {
      ...plainDrainSpec.limits,
      ...{ nodesAtOnce: nodesAtOnceMax, heldUpNodes: heldUpNodesMax, podsAtOnce: podsAtOnceMax },
    },
    timeouts: {
      ...plainDrainSpec.timeouts,
      ...(skipTerminatingMs !== undefined && { terminatingPods: skipTerminatingMs }),
      ...(nodeTimeoutMs !== undefined && { node: nodeTimeoutMs }),
    },
    pods: {
      ...plainDrainSpec.pods,
      ...{ withoutController: force, withEmptyDir: deleteEmptyDirData },
      ...(podOrder && { order: podOrder.byPriority ? 'ByPriority' : 'Together' }),
      ...(podOrder && podOrder.last.length > 0 && { last: podOrder.last }),
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    },
  };
  const { pace, ...config } = resolveDrainConfig({
    ...{ spec, leavesDaemonSets: ignoreDaemonSets },
    ...{ goneDaemonSets: new Set(goneDaemonSets), leaving: new Set(leaving), ...own },
  });
  return {
    ...config,
    pace: {
      ...pace,
      ...(requestsInFlightMax !== undefined && { requestsInFlightMax }),
      ...(blockedRetryWaitMs !== undefined && { blockedRetryWaitMs }),
    },
  };
}

function budgetsOf(budgets: BudgetPolicy): NodeDrainSpec['budgets'] {
  if (budgets.kind === 'deleteAfter')
    return { policy: 'DeleteAfter', deleteAfter: budgets.afterMs };
  return { policy: budgets.kind === 'ignore' ? 'Ignore' : 'Respect' };
}

/** The machine of a drain of these nodes, and the store that it decides by. */
export class StandaloneDrain {
  readonly machine: Machine;
  readonly #store: Store = new Store();
  readonly #times: DrainTimes = new DrainTimes(this.#store);

  constructor(config: DrainConfig, targets: readonly (DrainTarget | string)[]) {
    const machine = new DrainMachine(config, this.#times);
    for (const target of targets) {
      const named = typeof target === 'string' ? { name: target, zone: '' } : target;
      machine.add(Number.NEGATIVE_INFINITY, named);
    }
    this.machine = machine;
  }

  /** Takes an event; the commands that it leads to come with a tick. `now` never goes back. */
  handle(now: number, event: Event): readonly DrainCommand[] {
    const ended = this.#store.endPauses(now);
    const change = this.#store.apply(now, event);
    const changes = change ? [...ended, change] : ended;
    if (this.#times.follow(now, changes)) this.machine.redecide(now);
    return this.machine.handle(now, event);
  }

  nextWake(): number | null {
    const { synced, finished } = this.machine;
    const wake = this.machine.nextWake();
    return synced && !finished ? earlier(wake, this.#store.nextPauseEnd()) : wake;
  }
}
