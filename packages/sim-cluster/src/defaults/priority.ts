// The priority of new pods, as the admission plugin Priority gives it.
import { ApiError } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';

interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

const usualPolicy = 'PreemptLowerPriority';

/** The classes every cluster has. */
const everywhere: readonly PriorityClass[] = [
  { name: 'system-cluster-critical', value: 2_000_000_000, preemptionPolicy: usualPolicy },
  { name: 'system-node-critical', value: 2_000_001_000, preemptionPolicy: usualPolicy },
];

/**
 * The spec of a new pod with the priority of its class, or of the class that is the default of the cluster.
 * 403 for a class that is not there, and for what contradicts it.
 */
export function withPriority(
  { metadata, spec }: KubeObject,
  stored: readonly KubeObject[],
): KubeObject['spec'] {
  const { name } = metadata;
  const refuse = (text: string): never => {
    const message = `pods ${JSON.stringify(name)} is forbidden: ${text}`;
    throw new ApiError(403, 'Forbidden', message, { name, kind: 'pods' });
  };
  const wanted: string = spec.priorityClassName ?? '';
  const found = wanted === '' ? defaultIn(stored) : named(wanted, stored);
  if (!found) return refuse(`no PriorityClass with name ${wanted} was found`);
  const { value: priority, preemptionPolicy } = found;
  if (typeof spec.priority === 'number' && spec.priority !== priority) {
    return refuse(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    return refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  const className = found.name === '' ? {} : { priorityClassName: found.name };
  return { preemptionPolicy, ...spec, ...className, priority };
}

function named(name: string, stored: readonly KubeObject[]): PriorityClass | undefined {
  const found = stored.find(({ metadata }) => metadata.name === name);
  return found ? classOf(found) : everywhere.find((one) => one.name === name);
}

/** Where several say that they are the default, the least of them is. */
function defaultIn(stored: readonly KubeObject[]): PriorityClass {
  const [least] = stored
    .filter(({ globalDefault }) => globalDefault === true)
    .map(classOf)
    .sort((one, other) => one.value - other.value);
  return least ?? { name: '', value: 0, preemptionPolicy: usualPolicy };
}

function classOf({ metadata, value, preemptionPolicy }: KubeObject): PriorityClass {
  return {
    name: metadata.name,
    value: typeof value === 'number' ? value : 0,
    preemptionPolicy: typeof preemptionPolicy === 'string' ? preemptionPolicy : usualPolicy,
  };
}
