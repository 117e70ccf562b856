// The node pressure agent as it is to run.
import { createPressureMachine, type Instant, type PressureConfig } from '@taintmgr/core';
import {
  drive,
  type KubeletAddress,
  type MayAct,
  PressureLoop,
  type PressureNotice,
  type PressureRemoval,
  summariesFromKubelets,
  type Transport,
} from '@taintmgr/k8s-adapter';
import { watchesNode } from './config.ts';
import type { KubeletsConfig } from './kubelets.ts';

/** How node-pressure-controller is to run. */
export interface PressureAgentOptions {
  readonly transport: Transport;
  /** Asked before each request that changes something. */
  readonly mayAct: MayAct;
  readonly config: Partial<PressureConfig>;
  readonly removal: PressureRemoval;
  /** Null: they are asked through the API server. */
  readonly kubelets: KubeletsConfig | null;
  /** Whether streams are asked for in protobuf. */
  readonly protobuf: boolean;
  readonly pollPeriodMs: number;
  readonly pollsPerSecond: number;
  /** Aborted: evictions under way come to their end, then `runPressureAgent` resolves. */
  readonly signal: AbortSignal;
  readonly onNotice: (notice: PressureNotice, now: Instant) => void;
  /** Called once, when it has begun. */
  readonly onStart: (running: RunningPressure) => void;
}

/** The agent at work, to be told. */
export interface RunningPressure {
  /** Whether it acts; otherwise it follows what happens and sends nothing. */
  lead(held: boolean): void;
}

/** Evicts pods from nodes that run out of something until the signal is aborted. */
export function runPressureAgent(options: PressureAgentOptions): Promise<void> {
  const { transport: api, kubelets, mayAct, config, removal } = options;
  const { protobuf, pollPeriodMs, pollsPerSecond, signal, onNotice, onStart } = options;
  const loop = new PressureLoop({
    machine: createPressureMachine(config),
    random: Math.random,
    watches: watchesNode(config),
    removal,
    mayAct,
    protobuf,
    pollPeriodMs,
    pollsPerSecond,
  });
  const addressOf = (nodeName: string): KubeletAddress | null => loop.kubeletOf(nodeName);
  return drive({
    loop,
    transport: kubelets ? summariesFromKubelets({ ...kubelets, api, addressOf }) : api,
    signal,
    onNotice,
    onStart: (tell) =>
      onStart({
        lead: (held) => tell({ kind: 'leadership', held }),
      }),
  });
}
