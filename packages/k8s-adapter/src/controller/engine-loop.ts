// The controller of the engine: taint eviction and node lifecycle behind one loop.
import type { Command, Event } from '@taintmgr/core';
import { FollowedObjects } from '../manifests/followed.ts';
import { withEarlier } from '../manifests/pause-records.ts';
import { engineSources, type SourceOptions } from './engine-sources.ts';
import { GonePauses } from './gone-pauses.ts';
import { Witness } from './history/witness.ts';
import { ControlLoop } from './loop.ts';
import type { LoopNotice, LoopSettings, Machine } from './loop-parts.ts';
import {
  type EngineNotice,
  type EngineProcedureOptions,
  engineProcedures,
} from './procedures/engine.ts';
import type { PublishOptions } from './status-publisher.ts';

/** The choices of a Loop: its machine, its sources, and its way of acting. */
export interface LoopOptions extends SourceOptions, LoopSettings, EngineProcedureOptions {
  /** The engine, or what stands around it. */
  readonly machine: Machine<Event, Command>;
}

/** News for a person running the loop; the caller logs, counts or prints it. */
export type Notice = LoopNotice | EngineNotice;

/** The whole controller without its I/O, around an engine. */
export class Loop extends ControlLoop<Event, Command, EngineNotice> {
  constructor(options: LoopOptions) {
    const followed = new FollowedObjects();
    const { publish, takeover } = options;
    const removal = {
      ...options.removal,
      ownMark: takeover !== undefined,
      ...(options.devices && { devices: options.devices.paths }),
    };
    const remembering = publish && { remembering: publish.name };
    const sources = engineSources({ ...options, ...remembering }, followed);
    const gone = sources.find((source) => source instanceof GonePauses);
    super({
      ...options,
      sources,
      ...(publish && { publish: { followed, ...publish, status: remembered(publish, gone) } }),
      ...(options.history && { witness: new Witness(options.election?.identity ?? '') }),
      procedures: engineProcedures({ ...options, removal }),
      isUrgent,
      isUrgentEvent,
      eventOf: (notice) => (isEvent(notice) ? notice : null),
    });
  }
}

/** Keeps written down all that the engine has not heard of yet. */
function remembered(
  { status }: PublishOptions,
  gone: GonePauses | undefined,
): PublishOptions['status'] {
  return (now) => {
    const said = status(now);
    const { unreported = [] } = gone ?? {};
    if (unreported.length === 0) return said;
    return { ...said, pauseRecords: withEarlier(unreported, said.pauseRecords ?? []) };
  };
}

/** A pause that is gone in the next moment has to be remembered, and one that is gone not. */
function isUrgentEvent({ kind }: Event): boolean {
  return kind === 'pauseUpsert' || kind === 'pauseDelete';
}

/** Notices that the machine hears of too. */
function isEvent(notice: Notice): notice is Extract<Notice, Event> {
  return notice.kind === 'limitRecord' || notice.kind === 'evictionRequests';
}

/** Tells whether others wait for what this changes in the heartbeat. */
function isUrgent(notice: Notice): boolean {
  if (notice.kind === 'takeoverInForce') return true;
  return notice.kind === 'report' && notice.report.kind === 'readinessHold';
}
