import {
  checkEvictionConfig,
  defaultEvictionConfig,
  type EvictionConfig,
} from './eviction/config.ts';
import { noOthers, oneOf, refuse, trueOrFalse, withDefaults } from './kernel/checks.ts';
import { type LifecycleConfig, resolveLifecycleConfig } from './lifecycle/config.ts';
import { type Node, readyOf } from './model/node.ts';
import type { OwnPod } from './own-replicas.ts';
import { isWindowed } from './policy/limit.ts';
import type { DrainProgram } from './policy/node-drain.ts';

/** The rules that hold. */
export type Semantics =
  /** As the API documents it; nothing lost, nothing early. */
  | 'precise'
  /** kube-controller-manager 1.36.2 to the letter, its defects included. */
  | 'upstream-1.36';

/** The engine's limits and choices: those of the taint eviction, and what runs beside it. */
export interface Config extends EvictionConfig {
  /** The rules that decide: `precise` are those of taintmgr. */
  readonly semantics: Semantics;
  /** Evict pods from tainted nodes; false: leave that to another program. */
  readonly taintEviction: boolean;
  /** Watch nodes and taint those that fail; null: leave that to another program. */
  readonly lifecycle: Partial<LifecycleConfig> | null;
  /** Carry out the NodeDrains of the cluster. */
  readonly nodeDrains: boolean;
  /** A program carries out one NodeDrain that has no object, with these settings; null: a controller does. */
  readonly drainProgram: DrainProgram | null;
  /**
   * The pod in which this runs: the last ready replica of its workload is never removed. Null:
   * unknown, or the process runs in no pod.
   */
  readonly ownPod: OwnPod | null;
  /** Follow kube-controller-manager beside it, so that explanations can say what it would do. */
  readonly compare: boolean;
}

/** The configuration of an engine without options. */
export const defaultConfig: Config = {
  ...defaultEvictionConfig,
  semantics: 'precise',
  taintEviction: true,
  lifecycle: null,
  nodeDrains: false,
  drainProgram: null,
  ownPod: null,
  compare: false,
};

/** Fills in the defaults. Throws RangeError naming the field, the value and what is allowed. */
export function resolveConfig(options: Partial<Config>): Config {
  noOthers('', options, defaultConfig);
  const config = withDefaults(defaultConfig, options);
  trueOrFalse('', config, defaultConfig);
  oneOf('semantics', config.semantics, ['precise', 'upstream-1.36']);
  if (config.takeover) {
    oneOf('semantics', config.semantics, ['precise']);
    refuse('taintEviction', config.taintEviction, config.taintEviction, 'true beside takeover');
  }
  if (config.deviceTaints) {
    oneOf('semantics', config.semantics, ['precise']);
    refuse('taintEviction', config.taintEviction, config.taintEviction, 'true beside deviceTaints');
  }
  checkEvictionConfig(config);
  if (config.lifecycle) {
    const { enforcement } = resolveLifecycleConfig(config.lifecycle);
    const allowed = config.semantics === 'upstream-1.36' ? ['taints', 'pods'] : ['taints'];
    oneOf('lifecycle.enforcement', enforcement, allowed);
  }
  return config;
}

/**
 * True when the pods of a node have to be known: they go for its taints, or are marked not ready
 * because it is unreachable.
 */
export function concernsPods({ taints, conditions }: Node): boolean {
  const isTainted = taints.some(({ effect }) => effect === 'NoExecute');
  return isTainted || readyOf(conditions)?.status === 'Unknown';
}

/** The options that depend on all pods, by where they are configured. */
export type AllPodsNeed = 'semantics' | 'compare' | 'limits' | 'takeover' | 'deviceTaints';

type Rule = readonly [need: AllPodsNeed, isNeeded: (config: Partial<Config>) => boolean];

const rules: readonly Rule[] = [
  // Its timers begin when it hears of a pod, and go by names, which pods on other nodes take over.
  ['semantics', ({ semantics }) => semantics === 'upstream-1.36'],
  ['compare', ({ compare }) => compare === true],
  // Counted are pods that are unavailable, and a share is one of all there are, on whatever node.
  ['limits', ({ limits = [] }) => limits.some(isWindowed)],
  // A mark of ours is taken from a pod when its node has lost its taints.
  ['takeover', ({ takeover }) => takeover === true],
  // Pods that use a device are on nodes without taints.
  ['deviceTaints', ({ deviceTaints }) => deviceTaints === true],
];

/**
 * The options of a configuration that would go wrong where only the pods of nodes are known which
 * `concernsPods` names; empty: nothing.
 */
export function allPodsNeeds(config: Partial<Config>): readonly AllPodsNeed[] {
  return rules.flatMap(([need, isNeeded]) => (isNeeded(config) ? [need] : []));
}
