// Matches nodes with the node selector and affinity of a pod.
import { entry } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

/** What is asked of a node; the spec of a pod or of a pod template. */
export interface NodeWishes {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms?: readonly Term[];
      };
    };
  };
}

type Labels = Readonly<Record<string, string>>;

/** Whether nodeSelector and the required node affinity admit the node. */
export function admitsNode(wishes: NodeWishes, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(wishes.nodeSelector ?? {})) {
    if (labels[key] !== value) return false;
  }
  const terms = requiredTerms(wishes);
  if (!terms) return true;
  const fields = { 'metadata.name': node.metadata.name };
  return terms.some((term) => matchesTerm(term, labels, fields));
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

function requiredTerms(wishes: NodeWishes): readonly Term[] | undefined {
  return wishes.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms;
}

/** A term without any requirement matches nothing. */
function matchesTerm(term: Term, labels: Labels, fields: Labels): boolean {
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
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}
