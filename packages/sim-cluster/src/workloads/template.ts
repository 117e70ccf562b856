// Compares pod templates.
import { defaultPodSpec } from '../defaults/pod.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** A pod template of a workload. */
export interface Template {
  readonly metadata?: KubeObject['spec'];
  readonly spec?: KubeObject['spec'];
}

/**
 * Of two loaded templates one may have been written since, with its defaults, and the other one
 * not.
 */
export function isSameTemplate(a: Template, b: Template): boolean {
  return a === b || equal(asWritten(a), asWritten(b));
}

function asWritten({ metadata, ...template }: Template): Template {
  // Older API servers show it as null.
  const { creationTimestamp: _null, ...named } = metadata ?? {};
  return { ...template, metadata: named, spec: defaultPodSpec(template.spec ?? {}) };
}
