import type { Taint } from '@taintmgr/core';
import type { Connection } from '../../connection.ts';
import type { Output } from '../../output.ts';

/** What the command line says. */
export interface DrainFlags {
  readonly selector?: string | undefined;
  readonly podSelector?: string | undefined;
  readonly dryRun: 'none' | 'client' | 'server';
  readonly force?: true | undefined;
  readonly ignoreDaemonsets?: true | undefined;
  readonly deleteEmptydirData?: true | undefined;
  /** Seconds; negative: the pod's own. */
  readonly gracePeriod: number;
  /** Milliseconds; 0: no limit. */
  readonly timeout: number;
  readonly allowOverlap?: true | undefined;
}

/** One drain: what it works with. */
export interface Drain {
  readonly connection: Connection;
  readonly taint: Taint;
  readonly flags: DrainFlags;
  readonly output: Output;
  readonly interrupt: AbortSignal;
}
