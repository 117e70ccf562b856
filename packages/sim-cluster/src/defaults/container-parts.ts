// The defaults of ports, probes, handlers and environments of containers.
import { entry, isList, isObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';

/** Parts that no rule of the simulator looks into may have any form. */
type Part = Readonly<Record<string, Json>>;

/** A container with the defaults of its parts. */
export function withPartDefaults<T extends object>(container: T): T {
  const parts: Record<string, Json> = {};
  for (const [member, value] of Object.entries(container)) {
    const defaults = entry(partDefaults, member);
    if (defaults && value) parts[member] = defaults(value);
  }
  return { ...container, ...parts };
}

const eachOf =
  (defaults: (item: Json) => Json) =>
  (items: Json): Json =>
    isList(items) ? items.map(defaults) : items;

const partDefaults: Readonly<Record<string, (value: Json) => Json>> = {
  ports: eachOf((port) => (isObject(port) ? { protocol: 'TCP', ...port } : port)),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: (lifecycle) => {
    if (!isObject(lifecycle)) return lifecycle;
    const handlers = Object.entries(lifecycle).map(([name, one]) => [name, handler(one)]);
    return Object.fromEntries(handlers);
  },
  env: eachOf((one) => within(one, 'valueFrom', withFieldVersion)),
};

const probeCounts = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
} as const;

/** 0 of a count is none. */
function probe(given: Json): Json {
  const whole = handler(given);
  if (!isObject(whole)) return whole;
  const counts = Object.entries(probeCounts).map(([name, usual]) => [name, whole[name] || usual]);
  return { ...whole, ...Object.fromEntries(counts) };
}

function handler(given: Json): Json {
  const http = within(given, 'httpGet', (get) => ({
    ...get,
    path: get.path || '/',
    scheme: get.scheme || 'HTTP',
  }));
  return within(http, 'grpc', (call) => ({ service: '', ...call }));
}

/** A source of values with the version by which a field of the pod is read. */
export function withFieldVersion(source: Json): Json {
  return within(source, 'fieldRef', (field) => ({
    ...field,
    apiVersion: field.apiVersion || 'v1',
  }));
}

/** The value with one of its members changed, where it has it. */
export function within(value: Json, name: string, change: (member: Part) => Json): Json {
  if (!isObject(value)) return value;
  const member = value[name];
  return isObject(member) ? { ...value, [name]: change(member) } : value;
}
