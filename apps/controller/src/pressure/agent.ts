import { createPressureMachine, type Instant, type PressureConfig } from '@taintmgr/core';
import {
  drive,
  type MayAct,
  PressureLoop,
  type PressureNotice,
  type PressureRemoval,
  type Transport,
} from '@taintmgr/k8s-adapter';
import { watchesNode } from './config.ts';

/** How node-pressure-controller is to run. */
export interface PressureAgentOptions {
  readonly transport: Transport;
  /** Asked before each request that changes something. */
  readonly mayAct: MayAct;
  readonly config: Partial<PressureConfig>;
  readonly removal: PressureRemoval;
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
  const { transport, mayAct, config, removal, pollPeriodMs, pollsPerSecond } = options;
  const { signal, onNotice, onStart } = options;
  const loop = new PressureLoop({
    machine: createPressureMachine(config),
    random: Math.random,
    watches: watchesNode(config),
    removal,
    mayAct,
    pollPeriodMs,
    pollsPerSecond,
  });
  return drive({
    loop,
    transport,
    signal,
    onNotice,
    onStart: (tell) =>
      onStart({
        lead: (held) => tell({ kind: 'leadership', held }),
      }),
  });
}
