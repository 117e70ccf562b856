// PriorityClasses that loaded objects name and that are not among them.
import { isObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { subdomainErrors } from '../objects/names.ts';
import { apiVersionOf, storedResource } from '../resources/resources.ts';
import type { Backend } from './backend.ts';
import { createObject } from './create.ts';

/**
 * Makes them up, as else no pod of them could come again: with the priority that a loaded pod of the class
 * has, or 0.
 */
export function createMissingClasses(backend: Backend, items: readonly unknown[]): void {
  const resource = storedResource('priorityclasses');
  const value = new Map<string, number>();
  for (const spec of items.flatMap(podSpecIn)) {
    const { priorityClassName: name, priority } = spec;
    if (typeof name !== 'string' || name.startsWith('system-')) continue;
    // No server has a class of such a name.
    if (subdomainErrors(name).length > 0) continue;
    if (Number.isInteger(priority)) value.set(name, priority);
    else if (!value.has(name)) value.set(name, 0);
  }
  for (const [name, priority] of value) {
    if (backend.store.get(resource.storeKey, '', name)) continue;
    const { kind } = resource;
    const made = { apiVersion: apiVersionOf(resource), kind, metadata: { name }, value: priority };
    createObject(backend, resource, made, '');
  }
}

/** The spec of a pod, or of those that it makes. */
function podSpecIn(item: unknown): readonly KubeObject['spec'][] {
  if (!isObject(item) || !isObject(item.spec)) return [];
  const { spec } = item;
  if (item.kind === 'Pod') return [spec];
  const template = isObject(spec.template) ? spec.template : {};
  return isObject(template.spec) ? [template.spec] : [];
}
