import type { PodRef } from '@taintmgr/core';
import type { SoloDrainConfig } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import type { CordonAndTaint, NodeChanges } from '@taintmgr/k8s-adapter/drain';
import type { NodeSurvey } from '@taintmgr/k8s-adapter/survey';
import type { Connection } from '../../cli/connection.ts';
import type { Output } from '../../cli/output.ts';
import type { DrainPolicies } from './policies.ts';
import type { DrainSettings } from './settings.ts';

/** The parts of a drain. */
export interface Drain {
  readonly connection: Connection;
  readonly settings: DrainSettings;
  /** Its nodes, their pods, and what decides about them. */
  readonly survey: NodeSurvey;
  readonly config: SoloDrainConfig;
  /** Policies and pauses, which keep or hold pods. */
  readonly policies: DrainPolicies;
  readonly wanted: CordonAndTaint;
  readonly output: Output;
  /** Prints a line of kubectl's kind: data, where no document is asked for. */
  readonly say: (line: string) => void;
  readonly interrupt: AbortSignal;
  readonly startedAt: Instant;
}

/** The change to a node in kubectl's words, or that it was so already. */
export function changeText(
  nodeName: string,
  what: 'cordoned' | 'tainted',
  changes: NodeChanges,
): string {
  return `node/${nodeName} ${changes[what] ? '' : 'already '}${what}`;
}

/** `shop/web-0`. */
export function nameOf({ namespace, name }: Pick<PodRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
