import type { Command, Config, Event } from '@taintmgr/core';
import { type Instant, parseTime } from '@taintmgr/core/time';
import { asRecord, isRecord, type JsonRecord } from '../proto/json.ts';

// Writes the lines of a flight record, a text file of JSON, one value a line: a head, the steps in
// order, an ending. The engine reads no clock and draws no random numbers, so that head and events
// describe a run completely; the commands beside them are its actions then.

/** The first line: what the engine was made with. */
export interface FlightHead {
  /** The version of this form. */
  readonly apiVersion: typeof flightApiVersion;
  readonly kind: 'FlightRecord';
  /** Of the program that wrote it. */
  readonly version: string;
  /** RFC 3339 with milliseconds. */
  readonly startedAt: string;
  /** With the defaults of that time filled in. */
  readonly engine: Partial<Config>;
  /** Of the embedded cluster; left out where the cluster was a real one. */
  readonly seed?: number;
}

/** An event and the engine's answer. */
export interface FlightStep {
  /** From 1, without gaps. */
  readonly step: number;
  /** The engine's `now`, in milliseconds. */
  readonly at: Instant;
  /** The event that the engine took. */
  readonly event: Event;
  /** In their order; left out: none. */
  readonly commands?: readonly Command[];
  /** The engine stopped with this error: a mistake of ours. */
  readonly threw?: string;
}

/** The reason why there are no further steps: the program ended in order, or the file became too large. */
export type FlightEnding = 'stopped' | 'full';

/** The last line. A file without one is of a run that continues, or was cut off. */
export interface FlightEnd {
  /** The reason why there are no further steps. */
  readonly end: FlightEnding;
}

/** The group and version of the lines of flight records. */
export const flightApiVersion = 'taintmgr.dev/v1alpha1';

/** Returns one line of a flight record, with its line break. */
export function flightLine(value: FlightHead | FlightStep | FlightEnd): string {
  return `${JSON.stringify(value)}\n`;
}

/** The members each event has to have, so that the engine can take it. */
const members: Readonly<Record<Event['kind'], Readonly<Record<string, string>>>> = {
  nodeUpsert: { node: 'object' },
  nodeDelete: { name: 'string' },
  podUpsert: { pod: 'object' },
  podDelete: { uid: 'string' },
  leaseUpsert: { lease: 'object' },
  leaseDelete: { nodeName: 'string' },
  daemonSetUpsert: { daemonSet: 'object' },
  daemonSetDelete: { uid: 'string' },
  namespaceUpsert: { namespace: 'object' },
  namespaceDelete: { name: 'string' },
  policyUpsert: { policy: 'object' },
  policyDelete: { name: 'string' },
  taintRuleUpsert: { rule: 'object' },
  taintRuleDelete: { name: 'string' },
  pauseUpsert: { pause: 'object' },
  pauseDelete: { name: 'string' },
  resourceSliceUpsert: { slice: 'object' },
  resourceSliceDelete: { name: 'string' },
  deviceTaintRuleUpsert: { rule: 'object' },
  deviceTaintRuleDelete: { name: 'string' },
  resourceClaimUpsert: { claim: 'object' },
  resourceClaimDelete: { namespace: 'string', name: 'string' },
  deviceRights: { hidden: 'list' },
  nodeDrainUpsert: { drain: 'object' },
  nodeDrainDelete: { name: 'string' },
  podViews: { others: 'string', nodes: 'object' },
  clock: { ahead: 'number' },
  otherEvictors: { others: 'object' },
  view: { current: 'boolean' },
  synced: {},
  leadership: { held: 'boolean' },
  resumeEvictions: {},
  limitRecord: {},
  evictionRequests: { drain: 'string', isServed: 'boolean' },
  result: { id: 'string', outcome: 'object' },
  tick: {},
};
const endings: readonly FlightEnding[] = ['stopped', 'full'];

/** Reads the first line of a flight record. Throws RangeError that names field, value and wish. */
export function flightHeadFrom(value: unknown): FlightHead {
  const { apiVersion, kind, version, startedAt, engine, seed } = asRecord(value);
  want('apiVersion', apiVersion, apiVersion === flightApiVersion, flightApiVersion);
  want('kind', kind, kind === 'FlightRecord', 'FlightRecord');
  want('version', version, typeof version === 'string', 'text');
  const isTime = typeof startedAt === 'string' && parseTime(startedAt) !== null;
  want('startedAt', startedAt, isTime, 'a time such as 2026-05-04T12:00:00.000Z');
  want('engine', engine, isRecord(engine), 'an object');
  const { lifecycle = null } = asRecord(engine);
  const isLifecycle = lifecycle === null || isRecord(lifecycle);
  want('engine.lifecycle', lifecycle, isLifecycle, 'an object or null');
  const isSeed = seed === undefined || typeof seed === 'number';
  want('seed', seed, isSeed, 'a number');
  return value as FlightHead;
}

/** Reads any other line. Throws RangeError that names field, value and wish. */
export function flightLineFrom(value: unknown): FlightStep | FlightEnd {
  const line = asRecord(value);
  return 'end' in line ? endFrom(line) : stepFrom(line);
}

function endFrom({ end }: JsonRecord): FlightEnd {
  const known = endings.find((ending) => ending === end);
  return { end: known ?? refuse('end', end, endings.join(' or ')) };
}

function stepFrom({ step, at, event, commands = [], threw }: JsonRecord): FlightStep {
  const isStep = Number.isSafeInteger(step) && Number(step) > 0;
  want('step', step, isStep, 'a whole number from 1');
  want('at', at, Number.isFinite(at), 'milliseconds since 1970');
  const areCommands = Array.isArray(commands) && commands.every(isKindOf);
  want('commands', commands, areCommands, 'a list of commands');
  want('threw', threw, threw === undefined || typeof threw === 'string', 'text');
  return {
    step: Number(step),
    at: Number(at),
    event: eventFrom(event),
    // Commands are compared and shown, never executed.
    commands: commands as readonly Command[],
    ...(threw !== undefined && { threw: String(threw) }),
  };
}

function eventFrom(value: unknown): Event {
  const event = asRecord(value);
  const { kind } = event;
  const wanted = typeof kind === 'string' && Object.hasOwn(members, kind) ? kind : null;
  if (wanted === null) return refuse('event.kind', kind, Object.keys(members).join(', '));
  for (const [name, type] of Object.entries(members[wanted as Event['kind']])) {
    const found = event[name];
    const isList = type === 'list' && Array.isArray(found);
    const isRight = isList || (type === 'object' ? isRecord(found) : typeof found === type);
    want(`event.${name}`, found, isRight, `an event ${wanted} with ${type} ${name}`);
  }
  return value as Event;
}

function isKindOf(value: unknown): boolean {
  return typeof asRecord(value).kind === 'string';
}

function want(field: string, value: unknown, isRight: boolean, wish: string): void {
  if (!isRight) refuse(field, value, wish);
}

const shownMax = 60;

function refuse(field: string, value: unknown, wish: string): never {
  const text = JSON.stringify(value) ?? 'nothing';
  const shown = text.length > shownMax ? `${text.slice(0, shownMax)}...` : text;
  throw new RangeError(`${field}: got ${shown}, want ${wish}`);
}
