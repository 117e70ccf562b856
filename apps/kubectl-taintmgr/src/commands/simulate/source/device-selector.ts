// The expressions of DeviceClasses and claims, as far as CEL itself and quantities reach: functions that
// compare versions are unknown.
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { amountsOf, type SelectsDevice } from '@taintmgr/sim-cluster';

type Device = Parameters<SelectsDevice>[1];

class Quantity {
  readonly amount: number;

  constructor(text: string) {
    this.amount = amountsOf({ it: text }).get('it') ?? Number.NaN;
  }
}

const environment = new Environment({ enableOptionalTypes: true });
environment.registerVariable('device', 'dyn');
environment.registerType('Quantity', { ctor: Quantity, fields: {} });
environment.registerFunction('quantity(string): Quantity', (text: string) => new Quantity(text));
environment.registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) =>
  BigInt(Math.sign(a.amount - b.amount)),
);
environment.registerFunction(
  'Quantity.isGreaterThan(Quantity): bool',
  (a: Quantity, b: Quantity) => a.amount > b.amount,
);
environment.registerFunction(
  'Quantity.isLessThan(Quantity): bool',
  (a: Quantity, b: Quantity) => a.amount < b.amount,
);

const parsed = new Map<string, ParseResult>();

/** Judges a device by an expression. */
export const selectsDevice: SelectsDevice = (expression, device) => {
  try {
    const program = parsed.get(expression) ?? environment.parse(expression);
    parsed.set(expression, program);
    const value: unknown = program({ device: asCel(device) });
    return typeof value === 'boolean' ? value : { error: 'want true or false of it' };
  } catch (error) {
    return { error: `CEL runtime error: ${(error as Error).message.split('\n')[0]}` };
  }
};

const known = new WeakMap<Device, object>();

function asCel(device: Device): object {
  const { driver, allowMultipleAllocations } = device;
  const made = known.get(device) ?? {
    ...{ driver, allowMultipleAllocations },
    attributes: byDomain(device.attributes, driver, attributeValue),
    capacity: byDomain(device.capacity, driver, ({ value }) => new Quantity(String(value))),
  };
  known.set(device, made);
  return made;
}

type Member = Readonly<Record<string, unknown>>;

function attributeValue(attribute: Member): unknown {
  const [value] = Object.values(attribute);
  return typeof value === 'number' ? BigInt(value) : value;
}

const nothing: ReadonlyMap<string, unknown> = new Map();

/** In a domain of which nothing is known there is nothing, as opposed to no domain. */
function byDomain(
  named: Device['attributes'],
  driver: string,
  read: (value: Member) => unknown,
): ReadonlyMap<string, unknown> {
  const domains = new Map<string, Map<string, unknown>>();
  for (const [name, value] of Object.entries(named)) {
    const slash = name.indexOf('/');
    const domain = slash < 0 ? driver : name.slice(0, slash);
    const members = domains.get(domain) ?? new Map<string, unknown>();
    domains.set(domain, members.set(name.slice(slash + 1), read(value as Member)));
  }
  // cel-js does not recognize subclasses of Map.
  return Object.assign(new Map(domains), {
    get: (domain: string) => domains.get(domain) ?? nothing,
    has: () => true,
  });
}
