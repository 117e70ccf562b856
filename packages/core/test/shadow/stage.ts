// A cluster for the shadow: an engine that changes nothing, and somebody who deletes pods beside it.
import assert from 'node:assert/strict';
import {
  type Config,
  createEngine,
  type Engine,
  type Event,
  makePod,
  type Outcome,
  type Pod,
  type PodExplanation,
  type PodInput,
  type Taint,
} from '@taintmgr/core';
import {
  type ShadowConfig,
  type ShadowCounts,
  type ShadowOptions,
  type ShadowReport,
  ShadowScore,
} from '@taintmgr/core/shadow';

/** What kube-controller-manager writes on a pod before it deletes it. */
const mark = { reason: 'DeletionByTaintManager', manager: 'kube-controller-manager' };

/** As the controller sets up its engine in a dry run. */
export function rehearsing(config: Partial<Config> = {}): Engine {
  const confirmationWaitMs = 24 * 3_600_000;
  return createEngine({ keepTaintStarts: false, confirmationWaitMs, ...config });
}

type Shadowed = Partial<ShadowConfig> & Pick<ShadowOptions, 'doubt'>;

/** Ticks whenever it is asked to, and says of each command that it was carried out. */
export class Stage {
  readonly score: ShadowScore;
  readonly #engine: Engine;
  readonly #pods = new Map<string, Pod>();
  /** The most pods that were followed or remembered at once. */
  sizeMax = 0;
  now = 0;
  outcome: Outcome = { kind: 'done' };

  constructor(config: Partial<Config> = {}, shadow: Shadowed = {}) {
    this.#engine = rehearsing(config);
    const { mode = 'delete' } = config;
    const explain: Engine['explain'] = (now, subject) => this.#engine.explain(now, subject);
    this.score = new ShadowScore(this.#engine, { mode, explain, ...shadow });
  }

  /** Time goes on to `instant`; what is due there has been done. */
  until(instant: number): void {
    while (this.step(instant)) {}
    this.now = instant;
  }

  /** One tick that is due by then; false: there is none. */
  step(instant: number): boolean {
    const wake = this.score.nextWake();
    if (wake === null || wake > instant) return false;
    this.now = Math.max(this.now, wake);
    this.hear({ kind: 'tick' });
    return true;
  }

  hear(event: Event): void {
    if (event.kind === 'podUpsert') this.#pods.set(event.pod.uid, event.pod);
    if (event.kind === 'podDelete') this.#pods.delete(event.uid);
    const commands = this.score.handle(this.now, event);
    this.sizeMax = Math.max(this.sizeMax, this.score.size);
    for (const command of commands) {
      if (!('id' in command)) continue;
      this.hear({ kind: 'result', id: command.id, outcome: this.outcome });
    }
  }

  /** kube-controller-manager marks the pod. */
  mark(uid: string): void {
    this.#change(uid, { disruption: mark });
  }

  /** kube-controller-manager marks and deletes the pod, which goes on terminating. */
  deletedByManager(uid: string): void {
    this.mark(uid);
    this.#change(uid, { deletionTimestamp: this.now + 30_000 });
  }

  /** The same, seen as one change. */
  deletedAtOnce(uid: string): void {
    this.#change(uid, { disruption: mark, deletionTimestamp: this.now + 30_000 });
  }

  /** Somebody else deletes it. */
  deletedByUser(uid: string): void {
    this.#change(uid, { deletionTimestamp: this.now + 30_000 });
  }

  gone(uid: string): void {
    this.hear({ kind: 'podDelete', uid });
  }

  explained(uid: string): PodExplanation | null {
    const subject = { kind: 'pod', namespace: '', name: '', uid } as const;
    const explained = this.#engine.explain(this.now, subject);
    return explained?.kind === 'pod' ? explained : null;
  }

  #change(uid: string, fields: Partial<Pod>): void {
    const known = this.#pods.get(uid);
    if (!known) throw new Error(`there is no pod ${uid}`);
    this.hear({ kind: 'podUpsert', pod: { ...known, ...fields } });
  }
}

export const zero: ShadowCounts = {
  ...{ same: 0, earlier: 0, later: 0, kept: 0, onlyTaintmgr: 0, budgetsAsked: 0 },
};
export const spot: Taint = { key: 'spot', value: '', effect: 'NoExecute', timeAdded: null };

export function tolerating(seconds: number | null): Pick<PodInput, 'tolerations'> {
  return { tolerations: [{ key: 'spot', operator: 'Exists', tolerationSeconds: seconds }] };
}

/** A node, the pods of these names on it, and everything was read. */
export function stageOf(
  pods: Readonly<Record<string, Partial<PodInput>>>,
  config: Partial<Config> = {},
  shadow: Shadowed = {},
): Stage {
  const stage = new Stage(config, shadow);
  setTaints(stage, []);
  for (const [name, fields] of Object.entries(pods)) place(stage, name, fields);
  stage.hear({ kind: 'synced' });
  return stage;
}

export function place(stage: Stage, name: string, fields: Partial<PodInput> = {}): void {
  const pod = makePod({ nodeName: 'n1', namespace: 'shop', ...fields, name, uid: name });
  stage.hear({ kind: 'podUpsert', pod });
}

export function setTaints(stage: Stage, taints: readonly Taint[]): void {
  stage.hear({ kind: 'nodeUpsert', node: { name: 'n1', uid: 'n1', taints } });
}

/** The counts of every table add up to those of all. */
export function checkSums({ counts, taints, namespaces, policies }: ShadowReport): void {
  for (const rows of [taints, namespaces, policies]) {
    const sums = Object.keys(zero).map((key) => {
      return [key, rows.reduce((sum, row) => sum + Number(Reflect.get(row, key)), 0)];
    });
    assert.deepEqual(Object.fromEntries(sums), counts);
  }
}
