// What a snapshot or a live cluster says of policies, taint rules and pauses, for the simulation.

import {
  type DecidingKind,
  decidingKinds,
  isHoldingPause,
  selectsNamespaces,
} from '@taintmgr/k8s-adapter';
import { type PolicyObject, policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { followed } from '../../../cluster/policies.ts';
import { choicesText, countBy } from '../../../render/count.ts';

/** What is in force in a cluster, apart from its other objects. */
export interface SourcePolicies {
  readonly objects: readonly PolicyObject[];
  /** What somebody has to know of it. */
  readonly notes: readonly string[];
  /** The values without them. */
  readonly others: readonly unknown[];
}

/** Takes them out of what kubectl prints: lists, lists in lists, single objects. */
export function takePolicies(values: readonly unknown[]): SourcePolicies {
  const objects: PolicyObject[] = [];
  const notes: string[] = [];
  const takeOut = (value: unknown, implied: object): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if ('items' in value && Array.isArray(value.items)) {
      const ofItems = impliedBy(value);
      const items = value.items.flatMap((item) => takeOut(item, ofItems) ?? []);
      return { ...value, items };
    }
    const kind = kindOf({ ...implied, ...value });
    if (kind === null) return value;
    const found = followed(kind, { ...implied, ...value });
    objects.push(...found.objects);
    if (found.faults.length > 0) notes.push(unreadable(kind, found));
    return null;
  };
  const others = values.flatMap((value) => takeOut(value, {}) ?? []);
  return { objects, notes: [...inForce(objects), ...notes], others };
}

/** The kind that a list of some kind implies for its items. */
function impliedBy(list: object): object {
  const { kind, apiVersion } = list as { readonly kind?: unknown; readonly apiVersion?: unknown };
  const ofItems = typeof kind === 'string' ? kind.replace(/List$/, '') : '';
  return ofItems === '' ? {} : { kind: ofItems, apiVersion };
}

function kindOf(value: {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
}): DecidingKind | null {
  if (value.apiVersion !== policyApiVersion) return null;
  return decidingKinds.find((kind) => kind === value.kind) ?? null;
}

/** As taintmgr-controller does it. */
function unreadable(
  kind: DecidingKind,
  { name, objects, faults }: ReturnType<typeof followed>,
): string {
  const comesTo = objects.length > 0 ? 'all evictions are held' : 'it is left out';
  return `${kind} "${name}" cannot be followed, ${comesTo}: ${faults.join('; ')}`;
}

function inForce(objects: readonly PolicyObject[]): readonly string[] {
  const own = objects.filter(({ value }) => !isHoldingPause(value));
  if (own.length === 0) return [];
  const kinds = countBy(own.map(({ kind }) => kind));
  const texts = Array.from(kinds, ([kind, number]) => `${kind} ${number}`);
  return [`in force as in the cluster: ${texts.join(', ')}`];
}

/** What is not known of namespaces that were made up for what is in them. */
export function namespaceFaults(
  policies: readonly PolicyObject[],
  madeUp: readonly string[],
): readonly string[] {
  if (madeUp.length === 0) return [];
  return policies.filter(selectsNamespaces).map(({ kind, value }) => {
    const who = `${kind} "${value.name}" asks for labels of namespaces`;
    return `${who}, and there is no Namespace ${choicesText(madeUp)} in it`;
  });
}
