// The differences of an installed takeover policy or binding from its wanted state.
import { asList, asRecord, asText, parseJson } from '../proto/json.ts';
import {
  type TakeoverManifest,
  type TakeoverOptions,
  takeoverVersion,
  takeoverVersionAnnotation,
} from './manifests.ts';

/** One difference between an installed object and the wanted one. */
export interface Drift {
  /** `validatingadmissionpolicy/taintmgr-takeover`. */
  readonly object: string;
  /** `spec.failurePolicy`; '' for the whole object. */
  readonly field: string;
  /** In words, with the object's name: `... spec.failurePolicy is "Fail", not "Ignore"`. */
  readonly text: string;
  /** True if the live object has something beyond the wanted one, as a newer API server adds. */
  readonly isAdded: boolean;
}

/** The length at which a value is cut. */
const shownMax = 120;

/**
 * The differences between an object as the API server has it and as it is wanted; none: nothing. A live
 * object of `null` is missing. Fields that the live one has beyond the wanted ones count too: each
 * of them can narrow what a policy is for.
 */
export function takeoverDrift(live: unknown, wanted: TakeoverManifest): readonly Drift[] {
  const object = `${wanted.kind.toLowerCase()}/${wanted.metadata.name}`;
  if (live === null || live === undefined) {
    return [{ object, field: '', text: `${object} is missing`, isAdded: false }];
  }
  const differences = [...versionDrift(live), ...compare(asRecord(live).spec, wanted.spec, 'spec')];
  return differences.map(({ field, says, isAdded }) => {
    return { object, field, text: `${object}: ${says}`, isAdded };
  });
}

/** The version of content that an installed policy says it has; null: none. */
export function installedVersion(live: unknown): string | null {
  const version = asRecord(asRecord(asRecord(live).metadata).annotations)[
    takeoverVersionAnnotation
  ];
  return typeof version === 'string' ? version : null;
}

/** Whom an installed policy exempts, and whose heartbeat its binding names; null: it cannot be read. */
export function installedOptions(policy: unknown, binding: unknown): TakeoverOptions | null {
  const [first] = asList(asRecord(asRecord(policy).spec).matchConditions);
  const expression = asText(asRecord(first).expression);
  const at = expression.endsWith('])') ? expression.indexOf('in [') : -1;
  const users = at < 0 ? [] : asList(parseJson(expression.slice(at + 3, -1))).map(asText);
  const manager = asText(asRecord(asRecord(asRecord(binding).spec).paramRef).name);
  return users.length === 0 || manager === '' ? null : { manager, users };
}

interface Difference {
  readonly field: string;
  readonly says: string;
  readonly isAdded: boolean;
}

function versionDrift(live: unknown): readonly Difference[] {
  const found = installedVersion(live);
  if (found === takeoverVersion) return [];
  const field = `metadata.annotations[${takeoverVersionAnnotation}]`;
  return [different(field, found ?? undefined, takeoverVersion)];
}

function compare(live: unknown, wanted: unknown, field: string): readonly Difference[] {
  if (Array.isArray(wanted) && Array.isArray(live) && live.length === wanted.length) {
    return wanted.flatMap((one, i) => compare(live[i], one, `${field}[${i}]`));
  }
  if (isPlain(wanted) && isPlain(live)) {
    const names = new Set([...Object.keys(wanted), ...Object.keys(live)]);
    return [...names].flatMap((name) => compare(live[name], wanted[name], `${field}.${name}`));
  }
  if (isNothing(live) && isNothing(wanted)) return [];
  if (live === wanted) return [];
  return [different(field, live, wanted)];
}

function different(field: string, live: unknown, wanted: unknown): Difference {
  const isAdded = isNothing(wanted);
  const says = isAdded
    ? `${field} is ${shown(live)}, and should not be there`
    : `${field} is ${isNothing(live) ? 'missing' : shown(live)}, not ${shown(wanted)}`;
  return { field, says, isAdded };
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The API server drops empty fields, or fills them in. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlain(value) && Object.keys(value).length === 0;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > shownMax ? `${text.slice(0, shownMax)}...` : text;
}
