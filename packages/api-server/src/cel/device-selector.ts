// The expressions that select devices of resource.k8s.io, and a device as they see it.
import type { Json, PublishedDevice, SelectsDevice } from '@taintmgr/sim-cluster/server';
import { compile, type Program, type Variables } from './compile.ts';
import { readQuantity } from './library.ts';
import { semverOf } from './semver.ts';
import { mapOf, typeName } from './type.ts';
import { type CelValue, toCel } from './value.ts';

const deviceType = {
  kind: 'object',
  name: 'kubernetes.DRADevice',
  fields: {
    driver: 'string',
    attributes: mapOf(mapOf('dyn')),
    capacity: mapOf(mapOf('dyn')),
    allowMultipleAllocations: 'bool',
  },
} as const;
const variables: Variables = { device: deviceType };
const compiled = new Map<string, ReturnType<typeof compile>>();
/** Expressions that are kept; there are rarely more in one cluster. */
const compiledMax = 1000;

function programOf(expression: string): ReturnType<typeof compile> {
  const known = compiled.get(expression);
  if (known) return known;
  if (compiled.size >= compiledMax) compiled.clear();
  const made = compile(expression, variables);
  compiled.set(expression, made);
  return made;
}

/** The fault in an expression; null if there is none. */
export function selectorFault(expression: string): string | null {
  const made = programOf(expression);
  if ('error' in made) return made.error;
  const { type } = made.program;
  if (type === 'bool' || type === 'dyn') return null;
  return `must evaluate to bool or the unknown type, not ${typeName(type)}`;
}

/** Judges a device by an expression. */
export const selectsDevice: SelectsDevice = (expression, device) => {
  const made = programOf(expression);
  if ('error' in made) return { error: `CEL compile error: ${made.error}` };
  return evaluated(made.program, device);
};

function evaluated(program: Program, device: PublishedDevice): ReturnType<SelectsDevice> {
  const result = program.evaluate({ device: deviceValue(device) });
  if ('error' in result) return { error: `CEL runtime error: ${result.error}` };
  if (typeof result.value === 'boolean') return result.value;
  return { error: 'CEL expression did not evaluate to bool' };
}

const values = new WeakMap<PublishedDevice, CelValue>();

function deviceValue(device: PublishedDevice): CelValue {
  const known = values.get(device);
  if (known !== undefined) return known;
  const { driver, allowMultipleAllocations } = device;
  const plain = toCel(deviceType, { driver, allowMultipleAllocations });
  const value = Object.assign(plain as object, {
    attributes: byDomain(device.attributes, driver, attributeValue),
    capacity: byDomain(device.capacity, driver, capacityValue),
  });
  values.set(device, value);
  return value;
}

const nothing: ReadonlyMap<string, CelValue> = new Map();

/** In a domain of which nothing is known there is nothing, as opposed to no domain. */
function byDomain(
  named: Readonly<Record<string, Json>>,
  driver: string,
  read: (value: Json) => CelValue,
): ReadonlyMap<string, CelValue> {
  const found = new Map<string, Map<string, CelValue>>();
  for (const [name, value] of Object.entries(named)) {
    const slash = name.indexOf('/');
    const domain = slash < 0 ? driver : name.slice(0, slash);
    const members = found.get(domain) ?? new Map<string, CelValue>();
    found.set(domain, members.set(name.slice(slash + 1), read(value)));
  }
  // The library does not recognise a map of a derived class.
  return Object.assign(new Map(found), {
    get: (domain: string) => found.get(domain) ?? nothing,
    has: () => true,
  });
}

type Attribute = Readonly<Record<string, Json>>;

function attributeValue(value: Json): CelValue {
  const [[kind, held] = []] = Object.entries(value as Attribute);
  if (kind === 'version') return semverOf(String(held));
  return Array.isArray(held) && kind === 'versions'
    ? held.map((text) => semverOf(String(text)))
    : toCel('dyn', held);
}

function capacityValue(value: Json): CelValue {
  return readQuantity(String((value as Attribute).value));
}
