// Custom resources say how many pods they want and have where their definition says.

import type { Json, KubeObject, ScaleAccess } from '@taintmgr/sim-cluster/server';
import { entry, internalError, isObject, type JsonObject } from '@taintmgr/sim-cluster/server';
import type { ScalePaths } from '../structural/definition.ts';

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
