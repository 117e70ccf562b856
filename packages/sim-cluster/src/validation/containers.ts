// The validation of containers, and of the volumes that they mount.
import type { Cause } from '../objects/errors.ts';
import { isObject } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';
import { labelNameErrors } from '../objects/names.ts';
import { canonicalQuantity, quantity } from '../objects/quantity.ts';
import { duplicateValue, invalidValue, notFoundValue, notSupported, required } from './causes.ts';

type Quantities = Readonly<Record<string, string | number>>;

/** A container as far as the rules below look into it. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly ports?: readonly Port[];
  /** Any JSON, as what else the simulator does not look into. */
  readonly volumeMounts?: readonly Json[];
  readonly resources?: { readonly limits?: Quantities; readonly requests?: Quantities };
}

interface Port {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly protocol?: string;
}

const portMax = 65_535;
const portMessage = `must be between 1 and ${portMax}, inclusive`;
const protocols = ['SCTP', 'TCP', 'UDP'] as const;

/** The rules for volumes, each with a unique name. */
export function validateVolumes(volumes: readonly Json[], path: string): readonly Cause[] {
  return validateNames(
    volumes.map((volume) => memberOf(volume, 'name')),
    path,
  );
}

/** The rules for containers that may mount the volumes of these names. */
export function validateContainers(
  containers: readonly Container[],
  path: string,
  volumes: ReadonlySet<string>,
): readonly Cause[] {
  const names = validateNames(
    containers.map(({ name }) => name),
    path,
  );
  return [
    ...names,
    ...containers.flatMap((container, index) => {
      const field = `${path}[${index}]`;
      return [
        ...(container.image ? [] : [required(`${field}.image`)]),
        ...validatePorts(container.ports ?? [], `${field}.ports`),
        ...validateMounts(container.volumeMounts ?? [], `${field}.volumeMounts`, volumes),
        ...validateResources(container.resources ?? {}, `${field}.resources`),
      ];
    }),
  ];
}

/** The names of items: labels, and no two alike. */
function validateNames(names: readonly string[], path: string): readonly Cause[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const field = `${path}[${index}].name`;
    if (name === '') return [required(field)];
    const causes = labelNameErrors(name).map((error) => invalidValue(field, name, error));
    if (seen.has(name)) causes.push(duplicateValue(field, name));
    seen.add(name);
    return causes;
  });
}

function validatePorts(ports: readonly Port[], path: string): readonly Cause[] {
  const seen = new Set<string>();
  return ports.flatMap(({ name = '', containerPort, hostPort = 0, protocol }, index) => {
    const field = `${path}[${index}]`;
    const causes: Cause[] = [];
    if (seen.has(name)) causes.push(duplicateValue(`${field}.name`, name));
    if (name !== '') seen.add(name);
    if (containerPort === 0) causes.push(required(`${field}.containerPort`));
    for (const [member, port] of Object.entries({ containerPort, hostPort })) {
      const isPort = port >= 0 && port <= portMax;
      if (!isPort) causes.push(invalidValue(`${field}.${member}`, port, portMessage));
    }
    if (protocol !== undefined && !protocols.some((known) => known === protocol)) {
      causes.push(notSupported(`${field}.protocol`, protocol, protocols));
    }
    return causes;
  });
}

function validateMounts(
  mounts: readonly Json[],
  path: string,
  volumes: ReadonlySet<string>,
): readonly Cause[] {
  const places = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const field = `${path}[${index}]`;
    const causes: Cause[] = [];
    const [name, place] = [memberOf(mount, 'name'), memberOf(mount, 'mountPath')];
    if (name === '') causes.push(required(`${field}.name`));
    if (!volumes.has(name)) causes.push(notFoundValue(`${field}.name`, name));
    if (place === '') causes.push(required(`${field}.mountPath`));
    if (places.has(place)) {
      causes.push(invalidValue(`${field}.mountPath`, place, 'must be unique'));
    }
    places.add(place);
    return causes;
  });
}

function validateResources(
  { limits = {}, requests = {} }: { readonly limits?: Quantities; readonly requests?: Quantities },
  path: string,
): readonly Cause[] {
  return Object.entries(requests).flatMap(([name, request]) => {
    const limit = limits[name];
    if (limit === undefined || quantity(request) <= quantity(limit)) return [];
    const text = `must be less than or equal to ${name} limit of ${canonicalQuantity(limit)}`;
    return [invalidValue(`${path}.requests`, canonicalQuantity(request), text)];
  });
}

/** A text of an object of any form; '' where there is none. */
export function memberOf(value: Json | undefined, member: string): string {
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === 'string' ? found : '';
}
