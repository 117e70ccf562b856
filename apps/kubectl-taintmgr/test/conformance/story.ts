// A story of workloads as it was recorded: one line of `workloads.jsonl`.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** An object without what every one of its kind has. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly spec?: KubeObject['spec'];
}

interface StoryNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly unschedulable?: boolean;
  readonly taints?: readonly StoryTaint[];
}

interface StoryTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** Something that is done at a time; which of the fields are there depends on `do`. */
export interface StoryAction {
  /** Seconds. */
  readonly at: number;
  readonly do: string;
  readonly tag?: string;
  readonly node?: string;
  readonly pod?: string;
  /** The oldest pod of that owner. */
  readonly of?: string;
  /** All pods of that owner, one after another. */
  readonly all?: boolean;
  readonly kind?: string;
  readonly name?: string;
  readonly replicas?: number;
  readonly image?: string;
  readonly object?: Manifest;
  readonly patch?: object;
  readonly propagation?: string;
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly taint?: StoryTaint;
  readonly key?: string;
  readonly effect?: string;
  readonly ready?: boolean;
  readonly status?: string;
  /** Seconds. */
  readonly grace?: number;
}

/** What an event says beside its time. */
export type Facts = Readonly<Record<string, unknown>>;

/** Something that happened. */
export interface StoryEvent {
  /** Seconds. */
  readonly at: number;
  readonly facts: Facts;
}

/** As it was recorded; `after`: the same counted from another event. */
export interface ExpectedEvent {
  readonly at: number;
  readonly tolerance: number;
  readonly after?: { readonly dt: number; readonly tolerance: number };
  readonly [fact: string]: unknown;
}

export interface PodState {
  readonly pod: string;
  readonly node?: string;
  readonly phase: string;
  readonly ready: boolean;
}

/** What is there at an instant. */
interface State {
  readonly pods: readonly PodState[];
}

export interface Story {
  readonly name: string;
  /** Seconds until a pod is Ready, and until one that was deleted ends. */
  readonly kubelet: { readonly start: number; readonly stop: number };
  readonly nodes: readonly StoryNode[];
  readonly objects: readonly Manifest[];
  /** Seconds that the objects have before the first action. */
  readonly settle: number;
  readonly actions: readonly StoryAction[];
  /** Seconds. */
  readonly horizon: number;
  readonly initial: State;
  readonly expected: readonly ExpectedEvent[];
  /** Seen in one run only. */
  readonly varies?: readonly ExpectedEvent[];
  /** Left out: it differed from run to run. */
  readonly final?: State;
}
