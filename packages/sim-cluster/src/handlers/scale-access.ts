// Where objects say how many pods they want and have: workloads in their spec and status, custom resources where their definition says.
import { internalError } from '../objects/errors.ts';
import { entry, isObject, type JsonObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { labelSelectorRequirements, labelSelectorText } from '../selectors/labels.ts';
import type { ScalePaths } from '../structural/definition.ts';

export interface ScaleAccess {
  read(object: KubeObject): {
    readonly wanted: number;
    readonly there: number;
    /** As text; '' for none. */
    readonly selector: string;
  };
  withReplicas(object: KubeObject, replicas: number): KubeObject;
}

export const workloadScale: ScaleAccess = {
  read: ({ spec, status }) => {
    // That of a ReplicationController is a map of labels and nothing more.
    const given = spec.selector?.matchLabels || spec.selector?.matchExpressions;
    const selected = given ? spec.selector : { matchLabels: spec.selector ?? {} };
    return {
      wanted: spec.replicas ?? 0,
      there: status?.replicas ?? 0,
      selector: labelSelectorText(labelSelectorRequirements(selected) ?? []),
    };
  },
  withReplicas: (object, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
};

/** The scale of a custom resource. */
export function customScale(paths: ScalePaths): ScaleAccess {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = paths;
  return {
    read: (object) => {
      const wanted = at(object, stepsOf(specReplicasPath));
      if (typeof wanted !== 'number') {
        throw internalError(`the spec replicas field "${specReplicasPath}" does not exist`);
      }
      const there = at(object, stepsOf(statusReplicasPath));
      const selector = labelSelectorPath ? at(object, stepsOf(labelSelectorPath)) : '';
      return {
        wanted,
        there: typeof there === 'number' ? there : 0,
        selector: typeof selector === 'string' ? selector : '',
      };
    },
    withReplicas: (object, replicas) =>
      put(object, stepsOf(specReplicasPath), replicas) as unknown as KubeObject,
  };
}

/** These paths are names with dots between them. */
const stepsOf = (path: string): readonly string[] => path.split('.').slice(1);

function at(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (here, step) => (isObject(here) ? entry(here, step) : undefined),
    value,
  );
}

function put(value: unknown, [step = '', ...rest]: readonly string[], set: Json): JsonObject {
  const object = isObject(value) ? value : {};
  return { ...object, [step]: rest.length === 0 ? set : put(entry(object, step), rest, set) };
}
