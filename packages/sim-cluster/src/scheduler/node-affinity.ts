// Matches nodes with the node selector and affinity of a pod, and with those of a volume.
import { entry } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Some requirements that must all hold; one without any matches nothing. */
export interface NodeTerm {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

interface PreferredTerm {
  readonly weight: number;
  readonly preference?: NodeTerm;
}

/** The demands on a node in the spec of a pod or of a pod template. */
export interface NodeWishes {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms?: readonly NodeTerm[];
      };
      readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredTerm[];
    };
  };
}

type Labels = Readonly<Record<string, string>>;

/** True if nodeSelector and the required node affinity admit the node. */
export function admitsNode(wishes: NodeWishes, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(wishes.nodeSelector ?? {})) {
    if (labels[key] !== value) return false;
  }
  const terms = requiredTerms(wishes);
  return !terms || matchesTerms(terms, node);
}

/** True if a pod asks for certain nodes. */
export function asksForNodes(wishes: NodeWishes): boolean {
  return wishes.nodeSelector !== undefined || requiredTerms(wishes) !== undefined;
}

/** True if one of the terms matches the node. */
export function matchesTerms(terms: readonly NodeTerm[], node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  const fields = { 'metadata.name': node.metadata.name };
  return terms.some((term) => matchesTerm(term, labels, fields));
}

/** The preferred terms that count. */
export function preferredTerms(wishes: NodeWishes): readonly PreferredTerm[] {
  const terms = wishes.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  return terms ?? [];
}

/** The weights of the preferred terms that match the node, summed up. */
export function preferenceFor(terms: readonly PreferredTerm[], node: KubeObject): number {
  const labels = node.metadata.labels ?? {};
  const fields = { 'metadata.name': node.metadata.name };
  let total = 0;
  for (const { weight, preference } of terms) {
    if (preference && matchesTerm(preference, labels, fields)) total += weight;
  }
  return total;
}

/**
 * The nodes that a pod may run on by their names alone, when each of its terms names some: those of one term
 * are in all of its lists of names. Null: names do not limit it.
 */
export function namedNodes(wishes: NodeWishes): ReadonlySet<string> | null {
  const named = new Set<string>();
  const terms = requiredTerms(wishes);
  if (!terms || terms.length === 0) return null;
  for (const { matchFields = [] } of terms) {
    const [first, ...others] = matchFields
      .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
      .map(({ values = [] }) => values);
    if (!first) return null;
    for (const name of first) if (others.every((names) => names.includes(name))) named.add(name);
  }
  return named;
}

/**
 * The one node that a pod may run on because its affinity names it, as DaemonSet pods have it;
 * null when there is no such limit.
 */
export function onlyNode(wishes: NodeWishes): string | null {
  const [term, ...others] = requiredTerms(wishes) ?? [];
  if (!term || others.length > 0) return null;
  const byName = term.matchFields?.find(({ key }) => key === 'metadata.name');
  return byName?.operator === 'In' && byName.values?.length === 1
    ? (byName.values[0] ?? null)
    : null;
}

function requiredTerms(wishes: NodeWishes): readonly NodeTerm[] | undefined {
  return wishes.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms;
}

function matchesTerm(term: NodeTerm, labels: Labels, fields: Labels): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => isMet(requirement, labels)) &&
    matchFields.every((requirement) => isMet(requirement, fields))
  );
}

function isMet({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = entry(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return integer(value) > integer(values[0]);
    case 'Lt':
      return integer(value) < integer(values[0]);
    default:
      return false;
  }
}

/** A label read as Go reads an int64: `07` is 7; `v3` and the empty text are not numbers. */
function integer(text: string | undefined): number {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
}
