// The validation of device classes, slices, taint rules and groups of devices.
import type { Cause } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import {
  labelNameErrors,
  labelValueErrors,
  qualifiedNameErrors,
  subdomainErrors,
} from '../objects/names.ts';
import {
  duplicateValue,
  immutableMessage,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from './causes.ts';
import { validateMetadata } from './metadata.ts';

const effects = ['NoExecute', 'NoSchedule', 'None'] as const;
const taintsMax = 16;
const conditionsMax = 8;
const devicesMax = 128;
/** The greatest number of devices in a slice that has a device with taints. */
const taintedDevicesMax = 64;
const driverLengthMax = 63;

// Names.

const causesOf = (field: string, value: string, errors: readonly string[]): readonly Cause[] =>
  errors.map((error) => invalidValue(field, value, error));

/** The rules for the name of a driver. */
export function validateDriver(name: string, field: string): readonly Cause[] {
  if (name === '') return [required(field)];
  const text = `Too long: may not be more than ${driverLengthMax} bytes`;
  const long: Cause = { reason: 'FieldValueTooLong', message: text, field };
  const errors = subdomainErrors(name.toLowerCase());
  return [...(name.length > driverLengthMax ? [long] : []), ...causesOf(field, name, errors)];
}

/** The rules for the name of a pool: domains with `/` between. */
export function validatePool(name: string, field: string): readonly Cause[] {
  if (name === '') return [required(field)];
  return name.split('/').flatMap((part) => causesOf(field, part, subdomainErrors(part)));
}

/** The rules for the name of a device. */
export function validateDeviceName(name: string, field: string): readonly Cause[] {
  return causesOf(field, name, labelNameErrors(name));
}

// Taints.

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** The rules for an effect, which a toleration may leave out. */
export function validateEffect(effect: string, field: string): readonly Cause[] {
  return effects.some((known) => known === effect) ? [] : [notSupported(field, effect, effects)];
}

function validateTaint({ key, value = '', effect }: Taint, field: string): readonly Cause[] {
  return [
    ...causesOf(`${field}.key`, key, qualifiedNameErrors(key)),
    ...causesOf(`${field}.value`, value, labelValueErrors(value)),
    ...(effect === '' ? [required(`${field}.effect`)] : validateEffect(effect, `${field}.effect`)),
  ];
}

interface DeviceSelector {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
}

/** The rules for a DeviceTaintRule; of a status, for that alone. */
export function validateTaintRule(
  rule: KubeObject,
  { subresource = '' }: { readonly subresource?: string } = {},
): readonly Cause[] {
  if (subresource === 'status') return validateConditions(rule.status?.conditions ?? []);
  const { driver, pool, device }: DeviceSelector = rule.spec.deviceSelector ?? {};
  const field = 'spec.deviceSelector';
  return [
    ...validateMetadata(rule),
    ...(driver === undefined ? [] : validateDriver(driver, `${field}.driver`)),
    ...(pool === undefined ? [] : validatePool(pool, `${field}.pool`)),
    ...(device === undefined ? [] : validateDeviceName(device, `${field}.device`)),
    ...validateTaint(rule.spec.taint, 'spec.taint'),
  ];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string | null;
  readonly reason: string;
}

const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonMessage = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonPattern}')`;

function validateConditions(conditions: readonly Condition[]): readonly Cause[] {
  const all = 'status.conditions';
  return [
    ...(conditions.length > conditionsMax ? [tooMany(all, conditions.length, conditionsMax)] : []),
    ...conditions.flatMap(({ type, status, lastTransitionTime, reason }, index) => {
      const field = `${all}[${index}]`;
      const isStatus = statuses.some((known) => known === status);
      const isReason = new RegExp(`^${reasonPattern}$`).test(reason);
      return [
        ...(type === ''
          ? [required(`${field}.type`)]
          : causesOf(`${field}.type`, type, qualifiedNameErrors(type))),
        ...(isStatus ? [] : [notSupported(`${field}.status`, status, statuses)]),
        ...(lastTransitionTime === null ? [required(`${field}.lastTransitionTime`)] : []),
        ...(reason === ''
          ? [required(`${field}.reason`)]
          : isReason
            ? []
            : [invalidValue(`${field}.reason`, reason, reasonMessage)]),
      ];
    }),
  ];
}

const statuses = ['False', 'True', 'Unknown'] as const;

// Slices.

/** The nodes of devices: one of these members is set. */
interface Place {
  readonly nodeName?: string;
  readonly nodeSelector?: { readonly nodeSelectorTerms: readonly Term[] | null };
  readonly allNodes?: boolean;
  readonly perDeviceNodeSelection?: boolean;
}

interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Device extends Place {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly capacity?: Readonly<Record<string, object>>;
  readonly taints?: readonly Taint[];
}

type Attribute = Readonly<Record<string, unknown>>;

const placeNames = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const;

/** The rules for a ResourceSlice. */
export function validateSlice(slice: KubeObject): readonly Cause[] {
  const { driver, pool, devices = [] } = slice.spec;
  const { name, generation, resourceSliceCount } = pool;
  const isNone = resourceSliceCount <= 0;
  return [
    ...validateMetadata(slice),
    ...validateDriver(driver, 'spec.driver'),
    ...validatePool(name, 'spec.pool.name'),
    ...(isNone
      ? [
          invalidValue(
            'spec.pool.resourceSliceCount',
            resourceSliceCount,
            'must be greater than zero',
          ),
        ]
      : []),
    ...(generation < 0
      ? [invalidValue('spec.pool.generation', generation, 'must be greater than or equal to zero')]
      : []),
    ...validatePlace(slice.spec),
    ...validateDevices(devices, slice.spec.perDeviceNodeSelection === true),
  ];
}

/** The names of drivers are written in small letters. */
export function sliceWarnings({ spec }: KubeObject): readonly string[] {
  const { driver } = spec;
  if (driver === driver.toLowerCase()) return [];
  const text = `driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`;
  return [`spec.driver: ${text}`];
}

/** A slice stays with its driver, its pool and its node. */
export function validateSliceUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const kept = [
    ['spec.pool.name', next.spec.pool.name, previous.spec.pool.name],
    ['spec.driver', next.spec.driver, previous.spec.driver],
    ['spec.nodeName', next.spec.nodeName, previous.spec.nodeName],
  ] as const;
  return kept.flatMap(([field, value, before]) =>
    value === before ? [] : [invalidValue(field, value, immutableMessage)],
  );
}

function validatePlace(spec: Place): readonly Cause[] {
  const said = placeNames.filter((name) => spec[name] !== undefined && spec[name] !== false);
  const choices = placeNames.map((name) => `\`${name}\``).join(', ');
  const text = `exactly one of ${choices} is required`;
  const causes = [...validateMembers(spec, 'spec.')];
  for (const name of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[name] !== false) continue;
    causes.push(invalidValue(`spec.${name}`, false, 'must be either unset or set to true'));
  }
  if (said.length === 0) causes.push(required('spec', text));
  if (said.length > 1) {
    const value = `{${said.map((name) => `\`${name}\``).join(', ')}}`;
    causes.push(invalidValue('spec', value, `${text}, but multiple fields are set`));
  }
  return causes;
}

function validateMembers({ nodeName, nodeSelector }: Place, path: string): readonly Cause[] {
  const named =
    nodeName === undefined
      ? []
      : nodeName === ''
        ? [required(`${path}nodeName`)]
        : causesOf(`${path}nodeName`, nodeName, subdomainErrors(nodeName));
  const terms = nodeSelector?.nodeSelectorTerms ?? [];
  if (!nodeSelector || terms.length === 1) return named;
  const value = terms.map(({ matchExpressions, matchFields }) => ({
    MatchExpressions: matchExpressions?.map(goRequirement) ?? null,
    MatchFields: matchFields?.map(goRequirement) ?? null,
  }));
  const field = `${path}nodeSelector.nodeSelectorTerms`;
  return [...named, invalidValue(field, value, 'must have exactly one node selector term')];
}

const goRequirement = ({ key, operator, values }: Requirement): object => ({
  Key: key,
  Operator: operator,
  Values: values ?? null,
});

function validateDevices(devices: readonly Device[], isEachPlaced: boolean): readonly Cause[] {
  const isTainted = devices.some(({ taints = [] }) => taints.length > 0);
  const max = isTainted ? taintedDevicesMax : devicesMax;
  const names = new Set<string>();
  return [
    ...(devices.length > max ? [tooMany('spec.devices', devices.length, max)] : []),
    ...devices.slice(0, max).flatMap((device, index) => {
      const field = `spec.devices[${index}]`;
      const twice = names.has(device.name) ? [duplicateValue(field, device.name)] : [];
      names.add(device.name);
      return [
        ...validateDevice(device, field),
        ...validateDevicePlace(device, isEachPlaced, field),
        ...twice,
      ];
    }),
  ];
}

function validateDevice(device: Device, field: string): readonly Cause[] {
  const { name, attributes = {}, capacity = {}, taints = [] } = device;
  return [
    ...validateDeviceName(name, `${field}.name`),
    ...Object.entries(attributes).flatMap(([key, attribute]) => [
      ...validateKey(key, `${field}.attributes`),
      ...validateAttribute(attribute, `${field}.attributes[${key}]`),
    ]),
    ...Object.keys(capacity).flatMap((key) => validateKey(key, `${field}.capacity`)),
    ...(taints.length > taintsMax ? [tooMany(`${field}.taints`, taints.length, taintsMax)] : []),
    ...taints
      .slice(0, taintsMax)
      .flatMap((taint, index) => validateTaint(taint, `${field}.taints[${index}]`)),
  ];
}

function validateDevicePlace(
  device: Device,
  isEachPlaced: boolean,
  field: string,
): readonly Cause[] {
  const { nodeName, nodeSelector, allNodes } = device;
  const isSaid = nodeName !== undefined || nodeSelector !== undefined || allNodes === true;
  const when = '`perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (!isEachPlaced) {
    const text = `\`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if ${when}`;
    return isSaid ? [invalidValue(field, null, text)] : [];
  }
  const text = `exactly one of \`nodeName\`, \`nodeSelector\`, or \`allNodes\` is required when ${when}`;
  return [...validateMembers(device, `${field}.`), ...(isSaid ? [] : [required(field, text)])];
}

const identifierPattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const identifierMessage =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** `name` or `domain/name`. */
function validateKey(key: string, field: string): readonly Cause[] {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  return [
    ...(slash < 0 ? [] : validateDriver(key.slice(0, slash), field)),
    ...(identifierPattern.test(name) ? [] : [invalidValue(field, name, identifierMessage)]),
  ];
}

/** The Go names of the values. */
const values = {
  int: 'IntValue',
  bool: 'BoolValue',
  string: 'StringValue',
  version: 'VersionValue',
  ints: 'IntValues',
  bools: 'BoolValues',
  strings: 'StringValues',
  versions: 'VersionValues',
} as const;

const versionPattern = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

function validateAttribute(attribute: Attribute, field: string): readonly Cause[] {
  const { version } = attribute;
  const isWrong = typeof version === 'string' && !versionPattern.test(version);
  const causes = isWrong
    ? [
        invalidValue(
          `${field}.version`,
          version,
          'must be a string compatible with semver.org spec 2.0.0',
        ),
      ]
    : [];
  const count = Object.keys(attribute).length;
  if (count === 1) return causes;
  const shown =
    count === 0
      ? ''
      : Object.fromEntries(
          Object.entries(values).map(([name, go]) => [go, attribute[name] ?? null]),
        );
  return [...causes, invalidValue(field, shown, 'exactly one value must be specified')];
}

// Classes.

interface Selector {
  readonly cel?: object;
}

/** The rules for selectors of devices; the API server's CEL library judges their expressions. */
export function validateSelectors(selectors: readonly Selector[], field: string): readonly Cause[] {
  const max = 32;
  return [
    ...(selectors.length > max ? [tooMany(field, selectors.length, max)] : []),
    ...selectors.flatMap(({ cel }, index) => (cel ? [] : [required(`${field}[${index}].cel`)])),
  ];
}

/** The rules for a DeviceClass. */
export function validateDeviceClass(deviceClass: KubeObject): readonly Cause[] {
  const { selectors = [] } = deviceClass.spec;
  return [...validateMetadata(deviceClass), ...validateSelectors(selectors, 'spec.selectors')];
}
