// The controller of the engine: taint eviction and node lifecycle behind one loop.
import type { Command, Event } from '@taintmgr/core';
import { FollowedObjects } from '../manifests/followed-objects.ts';
import { engineSources, type SourceOptions } from './engine-sources.ts';
import { ControlLoop } from './loop.ts';
import type { LoopNotice, LoopSettings, Machine } from './loop-parts.ts';
import {
  type EngineNotice,
  type EngineProcedureOptions,
  engineProcedures,
} from './procedures/engine.ts';

export interface LoopOptions extends SourceOptions, LoopSettings, EngineProcedureOptions {
  /** The engine, or what stands around it. */
  readonly machine: Machine<Event, Command>;
}

/** What a person running the loop may want to know; the caller logs, counts or prints it. */
export type Notice = LoopNotice | EngineNotice;

/** The whole controller without its I/O, around an engine. */
export class Loop extends ControlLoop<Event, Command, EngineNotice> {
  constructor(options: LoopOptions) {
    const followed = new FollowedObjects();
    super({
      ...options,
      sources: engineSources(options, followed),
      ...(options.publish && { publish: { followed, ...options.publish } }),
      procedures: engineProcedures(options),
      isUrgent,
      eventOf: (notice) => (notice.kind === 'limitRecord' ? notice : null),
    });
  }
}

/** Whether others wait for what this changes in the heartbeat. */
function isUrgent(notice: Notice): boolean {
  if (notice.kind === 'takeoverInForce') return true;
  return notice.kind === 'report' && notice.report.kind === 'readinessHold';
}
