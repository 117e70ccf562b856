import type { Command, Event } from '@taintmgr/core';

/** Which pod or node a command or an event is about. Of a recording anything may be missing. */
export interface Target {
  readonly pod: { readonly namespace: string; readonly name: string } | null;
  readonly node: string | null;
}

type Value = Readonly<Record<string, unknown>>;

/** The pod or the node that it names, wherever its kind names one. */
export function targetOf(value: Command | Event): Target {
  const { report, ...rest }: Value = { ...value };
  const { pod, node, lease, name, nodeName } = isValue(report) ? report : rest;
  const named = [node, lease].find(isValue);
  const texts = [named?.name, named?.nodeName, nodeName, name, node];
  return {
    pod: isPodName(pod) ? pod : null,
    node: texts.find((text) => typeof text === 'string') ?? null,
  };
}

/** `shop/db-0` or `node zone-a-1`; '' for what is about neither. */
export function targetText(value: Command | Event): string {
  const { pod, node } = targetOf(value);
  if (pod) return `${pod.namespace}/${pod.name}`;
  return node === null ? '' : `node ${node}`;
}

function isPodName(value: unknown): value is { namespace: string; name: string } {
  return isValue(value) && typeof value.namespace === 'string' && typeof value.name === 'string';
}

function isValue(value: unknown): value is Value {
  return typeof value === 'object' && value !== null;
}
