// The validation of claims for devices.
import type { Cause } from '../objects/errors.ts';
import { equal, isList, isObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import {
  labelNameErrors,
  labelValueErrors,
  qualifiedNameErrors,
  subdomainErrors,
} from '../objects/names.ts';
import {
  allocationResult,
  resourceClaimSpec,
  resourceClaimTemplateSpec,
} from '../schema/device.ts';
import { type Shape, scalar } from '../schema/types.ts';
import {
  duplicateValue,
  forbiddenValue,
  immutableMessage,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from './causes.ts';
import {
  validateDeviceName,
  validateDriver,
  validateEffect,
  validatePool,
  validateSelectors,
} from './device.ts';
import { validateLabels, validateMetadata } from './metadata.ts';

const requestsMax = 32;
const alternativesMax = 8;
const consumersMax = 256;

interface Asked {
  readonly deviceClassName: string;
  readonly selectors?: readonly { readonly cel?: object }[];
  readonly allocationMode?: string;
  readonly count?: number;
  readonly tolerations?: readonly Toleration[];
}

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

interface Request {
  readonly name: string;
  readonly exactly?: Asked;
  readonly firstAvailable?: readonly (Asked & { readonly name: string })[];
}

interface Constraint {
  readonly requests?: readonly string[];
  readonly matchAttribute?: string;
  readonly distinctAttribute?: string;
}

interface Devices {
  readonly requests: readonly Request[] | null;
  readonly constraints?: readonly Constraint[];
}

interface Context {
  readonly previous?: KubeObject;
  readonly subresource?: string;
}

/** The rules for a ResourceClaim: of a new one, of its status, or of another write, which keeps the spec. */
export function validateClaim(claim: KubeObject, context: Context = {}): readonly Cause[] {
  const { previous, subresource } = context;
  if (subresource === 'status') return validateStatus(claim, previous);
  return [
    ...validateMetadata(claim),
    ...(previous ? [] : validateDevices(claim.spec.devices, 'spec.devices')),
  ];
}

/** Nothing that is asked for changes. */
export function validateClaimUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  if (equal(next.spec, previous.spec)) return [];
  return [invalidValue('spec', goForm(resourceClaimSpec, next.spec), immutableMessage)];
}

/** The rules for a new ResourceClaimTemplate: its claims get no name from it. */
export function validateTemplate(template: KubeObject, context: Context = {}): readonly Cause[] {
  if (context.previous) return validateMetadata(template);
  const { metadata = {}, spec } = template.spec;
  const named = Object.entries(metadata)
    .filter(([name, value]) => !['labels', 'annotations'].includes(name) && value !== null)
    .map(([name]) => forbiddenValue(`spec.metadata.${name}`, 'cannot be set'));
  return [
    ...validateMetadata(template),
    ...validateLabels(metadata.labels ?? {}, 'spec.metadata.labels'),
    ...named,
    ...validateDevices(spec.devices, 'spec.spec.devices'),
  ];
}

/** Nothing in a template changes. */
export function validateTemplateUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  if (equal(next.spec, previous.spec)) return [];
  return [invalidValue('spec', goForm(resourceClaimTemplateSpec, next.spec), immutableMessage)];
}

// The faults in the requested devices and their constraints.

function validateDevices({ requests, constraints = [] }: Devices, field: string): readonly Cause[] {
  const asked = requests ?? [];
  return [
    ...validateSet(asked, `${field}.requests`, requestsMax, validateRequest),
    ...constraints.flatMap((constraint, index) =>
      validateConstraint(constraint, `${field}.constraints[${index}]`, requestNames(asked)),
    ),
  ];
}

function validateSet<T extends { readonly name: string }>(
  items: readonly T[],
  field: string,
  max: number,
  validate: (item: T, field: string) => readonly Cause[],
): readonly Cause[] {
  const names = new Set<string>();
  return [
    ...(items.length > max ? [tooMany(field, items.length, max)] : []),
    ...items.slice(0, max).flatMap((item, index) => {
      const path = `${field}[${index}]`;
      const twice = names.has(item.name) ? [duplicateValue(path, item.name)] : [];
      names.add(item.name);
      return [...validate(item, path), ...twice];
    }),
  ];
}

function validateRequestName(name: string, field: string): readonly Cause[] {
  return labelNameErrors(name).map((error) => invalidValue(`${field}.name`, name, error));
}

function validateRequest(
  { name, exactly, firstAvailable }: Request,
  field: string,
): readonly Cause[] {
  const text = 'exactly one of `exactly` or `firstAvailable` is required';
  const causes = [...validateRequestName(name, field)];
  if (exactly && firstAvailable) {
    causes.push(invalidValue(field, null, `${text}, but multiple fields are set`));
  } else if (exactly) {
    causes.push(...validateAsked(exactly, `${field}.exactly`));
  } else if (firstAvailable) {
    const all = `${field}.firstAvailable`;
    causes.push(
      ...validateSet(firstAvailable, all, alternativesMax, (one, path) => [
        ...validateRequestName(one.name, path),
        ...validateAsked(one, path),
      ]),
    );
  } else causes.push(required(field, text));
  return causes;
}

function validateAsked(asked: Asked, field: string): readonly Cause[] {
  const { deviceClassName, selectors = [], tolerations = [] } = asked;
  const classField = `${field}.deviceClassName`;
  return [
    ...(deviceClassName === ''
      ? [required(classField)]
      : subdomainErrors(deviceClassName).map((error) =>
          invalidValue(classField, deviceClassName, error),
        )),
    ...validateSelectors(selectors, `${field}.selectors`),
    ...validateCount(asked, field),
    ...tolerations.flatMap((toleration, index) =>
      validateToleration(toleration, `${field}.tolerations[${index}]`),
    ),
  ];
}

const modes = ['All', 'ExactCount'] as const;

function validateCount({ allocationMode = '', count = 0 }: Asked, path: string): readonly Cause[] {
  const field = `${path}.count`;
  if (allocationMode === 'All') {
    const text = "must not be specified when allocationMode is 'All'";
    return count === 0 ? [] : [invalidValue(field, count, text)];
  }
  if (allocationMode === 'ExactCount') {
    return count > 0 ? [] : [invalidValue(field, count, 'must be greater than zero')];
  }
  return [notSupported(`${path}.allocationMode`, allocationMode, modes)];
}

function validateToleration(
  { key = '', operator = '', value = '', effect = '' }: Toleration,
  field: string,
): readonly Cause[] {
  const causes: Cause[] = [];
  for (const error of key === '' ? [] : qualifiedNameErrors(key)) {
    causes.push(invalidValue(`${field}.key`, key, error));
  }
  if (operator === 'Exists') {
    const text = 'must be empty for operator `Exists`';
    if (value !== '') causes.push(invalidValue(`${field}.value`, value, text));
  } else if (operator === 'Equal') {
    for (const error of labelValueErrors(value)) {
      causes.push(invalidValue(`${field}.value`, value, error));
    }
  } else causes.push(notSupported(`${field}.operator`, operator, ['Equal', 'Exists']));
  if (effect !== '') causes.push(...validateEffect(effect, `${field}.effect`));
  return causes;
}

/** `gpu`, and of alternatives `gpu/big`. */
function requestNames(requests: readonly Request[]): ReadonlySet<string> {
  return new Set(
    requests.flatMap(({ name, firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((one) => `${name}/${one.name}`),
    ]),
  );
}

const requestMessage =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

function validateConstraint(
  { requests = [], matchAttribute, distinctAttribute }: Constraint,
  field: string,
  names: ReadonlySet<string>,
): readonly Cause[] {
  const causes: Cause[] = requests.flatMap((name, index) =>
    names.has(name) ? [] : [invalidValue(`${field}.requests[${index}]`, name, requestMessage)],
  );
  const attributes = Object.entries({ matchAttribute, distinctAttribute });
  for (const [member, name] of attributes) {
    if (name === undefined || name.includes('/')) continue;
    const text = 'a fully qualified name must be a domain and a name separated by a slash';
    causes.push(invalidValue(`${field}.${member}`, name, text));
  }
  if ((matchAttribute === undefined) === (distinctAttribute === undefined)) {
    // The real server says the same of none and of both.
    const text =
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
    causes.push(required(field, text));
  }
  return causes;
}

// The status.

interface Result {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

interface Consumer {
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
}

function validateStatus(claim: KubeObject, previous?: KubeObject): readonly Cause[] {
  const { metadata, spec, status } = claim;
  const { allocation, reservedFor = [] } = status ?? {};
  const before = previous?.status?.allocation;
  const isAlone = reservedFor.length > 0 && allocation === undefined;
  const text = 'may not be specified when `allocated` is not set';
  const isMoved = before !== undefined && allocation !== undefined && !equal(before, allocation);
  const isGoing = metadata.deletionTimestamp !== undefined;
  const had: readonly Consumer[] = previous?.status?.reservedFor ?? [];
  return [
    ...(isAlone ? [forbiddenValue('status.reservedFor', text)] : []),
    ...validateConsumers(reservedFor),
    ...(isGoing && reservedFor.some(({ uid }: Consumer) => !had.some((one) => one.uid === uid))
      ? [forbiddenValue('status.reservedFor', goingMessage)]
      : []),
    ...(isMoved
      ? [invalidValue('status.allocation', goForm(allocationResult, allocation), immutableMessage)]
      : []),
    ...(before === undefined && allocation !== undefined
      ? validateResults(allocation.devices?.results ?? [], spec.devices.requests ?? [])
      : []),
  ];
}

const goingMessage =
  'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';

function validateConsumers(consumers: readonly Consumer[]): readonly Cause[] {
  const all = 'status.reservedFor';
  const uids = new Set<string>();
  return [
    ...(consumers.length > consumersMax ? [tooMany(all, consumers.length, consumersMax)] : []),
    ...consumers.slice(0, consumersMax).flatMap((consumer, index) => {
      const field = `${all}[${index}]`;
      const missing = (['resource', 'name', 'uid'] as const)
        .filter((member) => consumer[member] === '')
        .map((member) => required(`${field}.${member}`));
      const twice = uids.has(consumer.uid) ? [duplicateValue(field, consumer.uid)] : [];
      uids.add(consumer.uid);
      return [...missing, ...twice];
    }),
  ];
}

function validateResults(
  results: readonly Result[],
  requests: readonly Request[],
): readonly Cause[] {
  const names = requestNames(requests);
  return results.flatMap(({ request, driver, pool, device }, index) => {
    const field = `status.allocation.devices.results[${index}]`;
    return [
      ...(names.has(request) ? [] : [invalidValue(`${field}.request`, request, requestMessage)]),
      ...validateDriver(driver, `${field}.driver`),
      ...validatePool(pool, `${field}.pool`),
      ...validateDeviceName(device, `${field}.device`),
    ];
  });
}

// Values as Go shows them: every member of a struct, by the name that Go has for it.

const goNames: Readonly<Record<string, string>> = { cel: 'CEL', uid: 'UID', apiGroup: 'APIGroup' };

function goForm(shape: Shape, value: Json | undefined): Json {
  if (typeof shape === 'string') return value ?? goZero(shape);
  if (shape.type === 'list' && isList(value)) {
    return value.map((item) => goForm(shape.items, item));
  }
  if (shape.type !== 'struct') return value ?? null;
  if (value === undefined && !shape.always) return null;
  const given = isObject(value) ? value : {};
  const { metadata, ...fields } = shape.fields;
  const members = Object.entries(fields).map(([name, member]) => {
    const goName = goNames[name] ?? name.slice(0, 1).toUpperCase() + name.slice(1);
    return [goName, goForm(member, given[name])] as const;
  });
  // The metadata of a template is part of its struct.
  const embedded = metadata && isObject(given.metadata) ? given.metadata : {};
  return { ...embedded, ...Object.fromEntries(members) };
}

function goZero(shape: Extract<Shape, string>): Json {
  const { name, pointer } = scalar(shape);
  if (pointer) return null;
  if (name === 'string') return '';
  return name === 'int64' ? 0 : null;
}
