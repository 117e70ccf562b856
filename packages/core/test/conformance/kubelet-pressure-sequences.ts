import { isDeepStrictEqual } from 'node:util';
import { admissionFault } from '../../src/pressure/admission.ts';
import { createPressureMachine, type PressureMachine } from '../../src/pressure/machine.ts';
import type { FilesystemLayout } from '../../src/pressure/observation/filesystems.ts';
import { readSummary } from '../../src/pressure/observation/summary.ts';
import type { PressurePod } from '../../src/pressure/pods/pressure-pod.ts';
import type { PressureCommand } from '../../src/pressure/pressure-command.ts';
import type { PressureSettingsInput } from '../../src/pressure/settings/settings.ts';
import type { Threshold } from '../../src/pressure/settings/thresholds.ts';
import type { PressureConditionType } from '../../src/pressure/signals.ts';
import type { ThresholdState } from '../../src/pressure/threshold-states.ts';
import {
  isInert,
  podFrom,
  type VectorPod,
  type VectorStats,
  type VectorThreshold,
} from './kubelet-objects.ts';

// Replays recorded runs of the real eviction manager: the machine under semantics kubelet-1.36. The
// real one chooses by chance among equals, so what it did lists every result that was seen.

interface Case {
  readonly config: Required<
    Pick<
      PressureSettingsInput,
      'evictionHard' | 'evictionSoft' | 'evictionSoftGracePeriod' | 'evictionMinimumReclaim'
    >
  > & {
    readonly enforceNodeAllocatable: readonly string[] | null;
    readonly pressureTransitionPeriodMs: number;
    readonly maxPodGracePeriodSeconds: number;
    readonly dedicatedImageFs: boolean;
    readonly splitContainerImageFs: boolean;
    readonly localStorageCapacityIsolation: boolean;
  };
  readonly effectiveThresholds: readonly (VectorThreshold & { readonly key: string })[];
  readonly pods: readonly VectorPod[];
  readonly podStats: readonly VectorStats[] | null;
  readonly steps: readonly Step[];
}

interface Step {
  readonly atMs: number;
  readonly activePods: readonly string[];
  readonly nodeStats: unknown;
  readonly nodeStatsAfterReclaim?: unknown;
  readonly thresholdsFirstObservedAtMs: readonly (readonly [string, number])[];
  readonly thresholdsMetIncludingGrace: readonly string[];
  readonly nodeConditionsLastObservedAtMs: Readonly<Record<string, number>>;
  readonly nodeConditions: readonly PressureConditionType[];
  readonly admit: Readonly<Record<keyof typeof newcomers, boolean>>;
  readonly possibleOutcomes: readonly Outcome[];
}

interface Outcome {
  readonly attemptedReclaim?: string;
  readonly imageGC?: boolean;
  readonly containerGC?: boolean;
  readonly evicted: readonly Evicted[];
}

interface Evicted {
  readonly pod: string;
  readonly gracePeriodOverrideSeconds: number;
  readonly statusMessage: string;
  readonly disruptionTargetCondition: boolean;
  readonly statusPhase: string;
  readonly statusReason: string;
}

const epoch = 946_684_800_000;

/** What differs from the recorded run; null when nothing does. */
export function checkPressureSequence(recorded: Case): string | null {
  const run = new Run(recorded);
  for (const [index, step] of recorded.steps.entries()) {
    const difference = run.step(step);
    if (difference !== null) return `step ${index + 1}: ${difference}`;
  }
  return run.differenceInThresholds();
}

class Run {
  readonly #machine: PressureMachine;
  readonly #recorded: Case;
  readonly #pods: ReadonlyMap<string, PressurePod>;

  constructor(recorded: Case) {
    this.#recorded = recorded;
    this.#pods = new Map(
      recorded.pods.map(podFrom).map((pod): [string, PressurePod] => [pod.name, pod]),
    );
    this.#machine = createPressureMachine({
      semantics: 'kubelet-1.36',
      settings: settingsOf(recorded.config),
      evictionsPerSecond: null,
    });
    const node = { name: 'node', uid: 'node', labels: {}, conditions: [] };
    this.#machine.handle(epoch, { kind: 'pressureNode', node });
    this.#machine.handle(epoch, { kind: 'synced' });
  }

  step(step: Step): string | null {
    const now = epoch + step.atMs;
    for (const { uid } of this.#pods.values()) {
      this.#machine.handle(now, { kind: 'pressurePodGone', uid });
    }
    for (const name of step.activePods) this.#tellPod(now, name, 'Running');
    this.#observe(now, step.nodeStats);
    const outcome = this.#synchronize(now, step);
    return (
      difference('outcome', outcome, step.possibleOutcomes) ??
      this.#differenceInState(now, step) ??
      differenceInAdmission(step)
    );
  }

  differenceInThresholds(): string | null {
    const theirs = this.#recorded.effectiveThresholds
      .filter((threshold) => !isInert(threshold))
      .map(({ key }) => normalKey(key));
    const ours = this.#states(Number.MAX_SAFE_INTEGER).map(({ threshold }) => keyOf(threshold));
    return difference('thresholds', sorted(ours), [sorted(theirs)]);
  }

  /** Carries out what the machine wants, until it wants nothing more. */
  #synchronize(now: number, step: Step): Outcome {
    const done: PressureCommand[] = [];
    for (let commands = this.#tick(now); commands.length > 0; commands = this.#tick(now)) {
      done.push(...commands);
      for (const command of commands) this.#carryOut(now, command, step);
    }
    return outcomeOf(done);
  }

  #tick(now: number): readonly PressureCommand[] {
    return this.#machine.handle(now, { kind: 'tick' });
  }

  #carryOut(now: number, command: PressureCommand, step: Step): void {
    if (!('id' in command)) return;
    const { id } = command;
    this.#machine.handle(now, { kind: 'result', id, outcome: { kind: 'done' } });
    if (command.kind === 'reclaimNode') {
      this.#observe(now, step.nodeStatsAfterReclaim ?? step.nodeStats);
    }
    if (command.kind === 'evictUnderPressure') this.#tellPod(now, command.pod.name, 'Failed');
  }

  #observe(now: number, node: unknown): void {
    const observation = readSummary({ node, pods: this.#recorded.podStats ?? [] });
    this.#machine.handle(now, { kind: 'observed', nodeName: 'node', observation });
  }

  #tellPod(now: number, name: string, phase: string): void {
    const pod = this.#pods.get(name);
    if (!pod) throw new Error(`the recording names an unknown pod ${name}`);
    this.#machine.handle(now, { kind: 'pressurePod', pod: { ...pod, phase } });
  }

  #states(now: number): readonly ThresholdState[] {
    const { signals = [] } = this.#machine.explain(now, 'node') ?? {};
    return signals.flatMap(({ thresholds }) => thresholds);
  }

  #differenceInState(now: number, step: Step): string | null {
    const states = this.#states(now);
    const met = states.flatMap(({ threshold, metSince }) =>
      metSince === null ? [] : [`${keyOf(threshold)} since ${metSince - epoch}`],
    );
    const recordedMet = step.thresholdsFirstObservedAtMs.map(
      ([key, at]) => `${normalKey(key)} since ${at}`,
    );
    const due = states
      .filter(({ phase }) => phase === 'due')
      .map((state) => keyOf(state.threshold));
    const { conditions = [] } = this.#machine.explain(now, 'node') ?? {};
    const pressed = conditions.flatMap(({ type, lastPressed }) =>
      lastPressed === null ? [] : [[type, lastPressed - epoch]],
    );
    const holding = conditions.filter(({ holds }) => holds).map(({ type }) => type);
    const dueTheirs = step.thresholdsMetIncludingGrace.map(normalKey);
    return (
      difference('met', sorted(met), [sorted(recordedMet)]) ??
      difference('due', sorted(due), [sorted(dueTheirs)]) ??
      difference('pressed', Object.fromEntries(pressed), [step.nodeConditionsLastObservedAtMs]) ??
      difference('conditions', sorted(holding), [sorted(step.nodeConditions)])
    );
  }
}

function settingsOf({
  pressureTransitionPeriodMs,
  maxPodGracePeriodSeconds,
  dedicatedImageFs,
  splitContainerImageFs,
  enforceNodeAllocatable,
  ...settings
}: Case['config']): PressureSettingsInput {
  const dedicated: FilesystemLayout = splitContainerImageFs ? 'splitImages' : 'dedicatedImages';
  return {
    ...settings,
    enforceNodeAllocatable: enforceNodeAllocatable ?? [],
    evictionPressureTransitionPeriod: `${pressureTransitionPeriodMs}ms`,
    evictionMaxPodGracePeriod: maxPodGracePeriodSeconds,
    filesystemLayout: dedicatedImageFs ? dedicated : 'single',
    nodeReclaim: true,
  };
}

function outcomeOf(commands: readonly PressureCommand[]): Outcome {
  const attempt = commands.find(
    (command) => command.kind === 'recordNodeEvent' && command.reason === 'EvictionThresholdMet',
  );
  const attempted =
    attempt?.kind === 'recordNodeEvent'
      ? attempt.message.replace('Attempting to reclaim ', '')
      : undefined;
  const functions = commands.flatMap((command) =>
    command.kind === 'reclaimNode' ? command.functions : [],
  );
  return {
    ...(attempted !== undefined && { attemptedReclaim: attempted }),
    ...(functions.includes('deleteUnusedImages') && { imageGC: true }),
    ...(functions.includes('deleteUnusedContainers') && { containerGC: true }),
    evicted: commands.flatMap((command) => {
      if (command.kind !== 'evictUnderPressure') return [];
      const { pod, gracePeriodSeconds, status } = command;
      return [
        {
          pod: pod.name,
          gracePeriodOverrideSeconds: gracePeriodSeconds,
          statusMessage: status.message,
          disruptionTargetCondition: status.disruptionTarget === 'TerminationByKubelet',
          statusPhase: status.phase,
          statusReason: status.reason,
        },
      ];
    }),
  };
}

const plain: PressurePod = podFrom({ spec: { containers: [] } });
const tolerating = (key: string) => [
  { key, operator: 'Exists', value: '', effect: 'NoSchedule', tolerationSeconds: null },
];
const newcomers = {
  bestEffort: { pod: { ...plain, qosClass: 'BestEffort' }, tolerations: [] },
  burstable: { pod: { ...plain, qosClass: 'Burstable' }, tolerations: [] },
  guaranteed: { pod: { ...plain, qosClass: 'Guaranteed' }, tolerations: [] },
  bestEffortSystemCriticalPriority: {
    pod: { ...plain, priority: 2_000_000_000 },
    tolerations: [],
  },
  bestEffortToleratesMemoryTaint: {
    pod: plain,
    tolerations: tolerating('node.kubernetes.io/memory-pressure'),
  },
  bestEffortToleratesDiskTaint: {
    pod: plain,
    tolerations: tolerating('node.kubernetes.io/disk-pressure'),
  },
};

function differenceInAdmission({ nodeConditions, admit }: Step): string | null {
  const ours = Object.fromEntries(
    Object.entries(newcomers).map(([name, { pod, tolerations }]) => [
      name,
      admissionFault(nodeConditions, pod, tolerations) === null,
    ]),
  );
  return difference('admission', ours, [admit]);
}

function difference(what: string, ours: unknown, possible: readonly unknown[]): string | null {
  if (possible.some((theirs) => isDeepStrictEqual(ours, theirs))) return null;
  return `${what} ${JSON.stringify(ours)}, want ${possible.map((one) => JSON.stringify(one)).join(' or ')}`;
}

/** `signal|value|graceMs`, the value as the recording has it. */
function keyOf({ signal, value, gracePeriodMs }: Threshold): string {
  const text = value.kind === 'quantity' ? value.quantity.text : String(value.fraction);
  return `${signal}|${text}|${gracePeriodMs}`;
}

/** The recording has the shortest decimal that a float32 is read from. */
function normalKey(key: string): string {
  const [signal, value = '', grace] = key.split('|');
  const isFraction = /^\d*\.\d+$/.test(value);
  return [signal, isFraction ? Math.fround(Number(value)) : value, grace].join('|');
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...texts].sort();
}
