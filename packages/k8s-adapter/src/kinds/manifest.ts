// Reads manifests: what the API server would refuse is refused in its words.

import type {
  EvictionPause,
  EvictionPolicy,
  NodeDrain,
  NodeTaintRule,
} from '@taintmgr/core/policy';
import { formatTimeMillis, type Instant, parseTime } from '@taintmgr/core/time';
import type { Metadata } from './engine-value.ts';
import { evictionPauseOf, evictionPauseSpec, evictionPauseStatus } from './eviction-pause.ts';
import { evictionPolicyOf, evictionPolicySpec } from './eviction-policy.ts';
import { type KindName, kindNames, policyApiVersion } from './kinds.ts';
import { nodeDrainOf, nodeDrainSpec } from './node-drain.ts';
import { nodeDrainStatus } from './node-drain-status.ts';
import { nodeTaintRuleOf, nodeTaintRuleSpec } from './node-taint-rule.ts';
import { type TaintManagerStatus, taintManagerStatus } from './taint-manager.ts';
import {
  invalid,
  isRecord,
  type Judged,
  judge,
  judgeInPart,
  type ManifestFault,
  unknownField,
  wrongType,
} from './validation.ts';

/** The object of a manifest. */
export type PolicyObject =
  | { readonly kind: 'EvictionPolicy'; readonly value: EvictionPolicy }
  | { readonly kind: 'NodeTaintRule'; readonly value: NodeTaintRule }
  | { readonly kind: 'EvictionPause'; readonly value: EvictionPause }
  | { readonly kind: 'NodeDrain'; readonly value: NodeDrain }
  | { readonly kind: 'TaintManager'; readonly value: NamedTaintManager };

/** A TaintManager; without a status it has said nothing yet. */
export interface NamedTaintManager {
  /** The name of the object. */
  readonly name: string;
  /** The UID of the object; '' in a file. */
  readonly uid: string;
  /** Null: the leader has written none yet. */
  readonly status: TaintManagerStatus | null;
}

/**
 * Reads an object of one of our kinds, from a file or from the API. `now` is the start of a pause
 * that names none. A time is text, or a Date as in objects of @kubernetes/client-node. Nothing is
 * half read: one fault, and all of it is refused.
 */
export function readManifest(value: unknown, now: Instant): Judged<PolicyObject> {
  const read = withTexts(value);
  const object = isRecord(read) ? read : {};
  const kind = kindOf(object.kind);
  if (isOldGrammar(value)) return refused(oldGrammarText);
  if (object.apiVersion !== policyApiVersion || kind === null) return foreign(object);
  const faults = [...strayFaults(object), ...metadataFaults(object.metadata)];
  const judged = bodyOf(kind, object, metadataOf(object), now);
  if (judged.kind === 'refused') return { ...judged, faults: [...faults, ...judged.faults] };
  return faults.length > 0 ? { kind: 'refused', faults } : judged;
}

/** Objects of @kubernetes/client-node, and YAML that it has read, have a Date for a time. */
function withTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTexts);
  if (!isRecord(value)) return value;
  const { getTime } = value;
  if (typeof getTime === 'function') return formatTimeMillis(Number(getTime.call(value)));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withTexts(one)]));
}

function kindOf(name: unknown): KindName | null {
  return kindNames.find((one) => one === name) ?? null;
}

function foreign({ kind, apiVersion }: Readonly<Record<string, unknown>>): Judged<never> {
  const what = kind === undefined ? 'no kind' : `kind ${JSON.stringify(kind)}`;
  const of = apiVersion === undefined ? ' and no apiVersion' : ` of ${JSON.stringify(apiVersion)}`;
  return refused(`got ${what}${of}, want ${kindNames.join(', ')} of ${policyApiVersion}`);
}

function refused(text: string): Judged<never> {
  return { kind: 'refused', faults: [{ path: ['kind'], text, endsChecks: true }] };
}

/** The manifests that replace the former policies of configuration files. */
const oldGrammarText =
  `got policies without kind and apiVersion, want an EvictionPolicy of ${policyApiVersion} for each: key, value ` +
  'and effect are in spec.match.taints, mode is spec.action (Delete, Evict, EvictThenDelete), ' +
  'settle is spec.minTaintAge, the others are in spec';

/** Such a policy, a list of them, or their former container. */
function isOldGrammar(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isOldGrammar);
  if (!isRecord(value) || value.kind !== undefined || value.apiVersion !== undefined) return false;
  const { policies, eviction, key, mode, settle } = value;
  if (policies !== undefined || eviction !== undefined) return isOldGrammar(policies ?? eviction);
  return typeof key === 'string' || mode !== undefined || settle !== undefined;
}

function bodyOf(
  kind: KindName,
  { spec, status }: Readonly<Record<string, unknown>>,
  metadata: Metadata,
  now: Instant,
): Judged<PolicyObject> {
  const { name, uid } = metadata;
  switch (kind) {
    case 'EvictionPolicy':
      return turned(judge(evictionPolicySpec, spec, ['spec']), (allowed) => {
        return { kind, value: evictionPolicyOf(metadata, allowed) };
      });
    case 'NodeTaintRule':
      return turned(judge(nodeTaintRuleSpec, spec, ['spec']), (allowed) => {
        return { kind, value: nodeTaintRuleOf(metadata, allowed) };
      });
    case 'EvictionPause': {
      const said = judgeInPart(evictionPauseStatus, status, ['status']);
      return turned(judge(evictionPauseSpec, spec, ['spec']), (allowed) => {
        return { kind, value: evictionPauseOf(metadata, allowed, said, now) };
      });
    }
    case 'NodeDrain': {
      // The drain goes on from there: words of a later version must not be taken for none.
      const judged = judge(nodeDrainStatus, status ?? {}, ['status'], 'dropped');
      if (judged.kind === 'refused') return judged;
      return turned(judge(nodeDrainSpec, spec, ['spec']), (allowed) => {
        return { kind, value: nodeDrainOf(metadata, allowed, judged.value) };
      });
    }
    case 'TaintManager': {
      const said = judgeInPart(taintManagerStatus, status, ['status']);
      return { kind: 'allowed', value: { kind, value: { name, uid, status: said } } };
    }
  }
}

function turned<T>(judged: Judged<T>, turn: (value: T) => PolicyObject): Judged<PolicyObject> {
  return judged.kind === 'refused' ? judged : { kind: 'allowed', value: turn(judged.value) };
}

const members = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

function strayFaults(object: Readonly<Record<string, unknown>>): readonly ManifestFault[] {
  const known = object.kind === 'TaintManager' ? members.filter((one) => one !== 'spec') : members;
  return Object.keys(object).flatMap((name) =>
    known.includes(name) ? [] : [unknownField([name])],
  );
}

function metadataOf({ metadata }: Readonly<Record<string, unknown>>): Metadata {
  const { name, uid, generation, creationTimestamp, deletionTimestamp, finalizers } = isRecord(
    metadata,
  )
    ? metadata
    : {};
  return {
    name: typeof name === 'string' ? name : '',
    uid: typeof uid === 'string' ? uid : '',
    generation: typeof generation === 'number' ? generation : 0,
    created: typeof creationTimestamp === 'string' ? parseTime(creationTimestamp) : null,
    isDeleted: typeof deletionTimestamp === 'string',
    finalizers: Array.isArray(finalizers)
      ? finalizers.filter((one) => typeof one === 'string')
      : [],
  };
}

const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const subdomainPattern = new RegExp(`^${subdomain}$`);
const subdomainLengthMax = 253;
const wantSubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`;

const part = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const partPattern = new RegExp(`^${part}$`);
const partLengthMax = 63;
const wantPart = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${part}')`;
const wantLabelValue = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${part})?')`;

/** A text that is refused, and why. */
type Refusal = readonly [text: string, why: string];

/** Returns the faults of `metadata`, which may be any value. */
export function metadataFaults(metadata: unknown): readonly ManifestFault[] {
  const { name, labels, annotations } = isRecord(metadata) ? metadata : {};
  return [
    ...nameFaults(name),
    ...textsFaults('labels', labels, (key, value) => [
      ...keyRefusals(key),
      ...valueRefusals(value),
    ]),
    // A prefix may have any case there.
    ...textsFaults('annotations', annotations, (key) =>
      keyRefusals(key.toLowerCase()).map(([, why]) => [key, why]),
    ),
  ];
}

function nameFaults(name: unknown): readonly ManifestFault[] {
  const path = ['metadata', 'name'];
  if (typeof name !== 'string' || name === '') {
    const text = 'metadata.name: Required value: name or generateName is required';
    return [{ path, text, endsChecks: true }];
  }
  if (name.length > subdomainLengthMax) {
    return [invalid(path, name, `must be no more than ${subdomainLengthMax} bytes`)];
  }
  return subdomainPattern.test(name) ? [] : [invalid(path, name, wantSubdomain)];
}

/** Of texts by their keys; the API server names the map, regardless of the entry. */
function textsFaults(
  member: 'labels' | 'annotations',
  texts: unknown,
  refusalsOf: (key: string, value: string) => readonly Refusal[],
): readonly ManifestFault[] {
  const path = ['metadata', member];
  if (texts === undefined || texts === null) return [];
  if (!isRecord(texts)) return [wrongType(path, 'object', texts)];
  return Object.entries(texts).flatMap(([key, value]) => {
    const place = [...path, key];
    if (value !== null && typeof value !== 'string') return [wrongType(place, 'string', value)];
    const refusals = refusalsOf(key, value ?? '');
    return refusals.map(([text, why]) => ({ ...invalid(path, text, why), path: place }));
  });
}

/** `name` or `prefix/name` */
function keyRefusals(key: string): readonly Refusal[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    const why = `a valid label key ${wantPart} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
    return [[key, why]];
  }
  const [name = '', prefix] = parts.reverse();
  const whys = [
    ...(prefix === '' ? ['prefix part must be non-empty'] : []),
    ...(prefix && !subdomainPattern.test(prefix) ? [`prefix part ${wantSubdomain}`] : []),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(name.length > partLengthMax
      ? [`name part must be no more than ${partLengthMax} bytes`]
      : []),
    ...(partPattern.test(name) ? [] : [`name part ${wantPart}`]),
  ];
  return whys.map((why) => [key, why]);
}

function valueRefusals(value: string): readonly Refusal[] {
  if (value.length > partLengthMax) return [[value, `must be no more than ${partLengthMax} bytes`]];
  return value === '' || partPattern.test(value) ? [] : [[value, wantLabelValue]];
}
