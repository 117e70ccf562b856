import type { Engine } from '@taintmgr/core';
import type { PressureConfig } from '@taintmgr/core/pressure';
import type { Machine } from '../../src/controller/loop-parts.ts';
import type { MachineClocks } from '../../src/driver/runner.ts';
import type { Look } from '../../src/evictors/look.ts';
import type { SeedConfig } from './config.ts';

/** A fault planted into the controller, to see whether the checkers find it. */
export interface Sabotage {
  /** Changes what the engine is told to do. */
  readonly config?: (config: SeedConfig) => SeedConfig;
  /** Stands between the loop and the engine. */
  readonly machine?: (engine: Engine) => Machine;
  /** What the loop takes for a fresh view. */
  readonly viewAgeMsMax?: number;
  /** Changes what the node pressure agent is told to do. */
  readonly agent?: Partial<PressureConfig>;
  /** What the loop takes for the clocks of its machine. */
  readonly clocks?: (machine: MachineClocks) => MachineClocks;
  /** False: it does not follow the policies of the cluster. */
  readonly clusterPolicies?: false;
  /** False: answers do not say when they were given. */
  readonly dates?: false;
  /** False: several replicas act without being elected. */
  readonly election?: boolean;
  /** Of who decides beside kube-controller-manager. */
  readonly takeover?: TakeoverSabotage;
  /** What a controller takes for what it sees of others. */
  readonly look?: (look: Look) => Look;
  /** How likely a request is in trouble even in quiet times, which a rare fault may need to show. */
  readonly trouble?: number;
}

/** What is wrong with who decides beside kube-controller-manager. */
export interface TakeoverSabotage {
  /** What stands in its policies in the place of what. */
  readonly policies?: readonly [right: string, wrong: string];
  /** False: it installs none. */
  readonly installs?: false;
  /** False: it writes no heartbeat. */
  readonly publishes?: false;
  /** False: it does not put them back. */
  readonly mends?: false;
  /** Whose pods are not to be marked not ready, whatever holds: all or none. */
  readonly holdsReadiness?: boolean;
  /** False: it says that it does not decide. */
  readonly decides?: boolean;
  /** Somebody writes its heartbeat when it is gone. */
  readonly isUndead?: true;
}
