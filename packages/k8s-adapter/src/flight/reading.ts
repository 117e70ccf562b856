// Reads the lines of a flight record.
import type { Command, Event } from '@taintmgr/core';
import { parseTime } from '@taintmgr/core/time';
import { asRecord, isRecord, type JsonRecord } from '../proto/json.ts';
import {
  type FlightEnd,
  type FlightEnding,
  type FlightHead,
  type FlightStep,
  flightApiVersion,
} from './record.ts';

/** What each event has to have, so that the engine can take it. */
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
    const isRight = type === 'object' ? isRecord(event[name]) : typeof event[name] === type;
    want(`event.${name}`, event[name], isRight, `an event ${wanted} with ${type} ${name}`);
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
