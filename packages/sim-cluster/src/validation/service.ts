// The validation of Services.
import { isIP } from 'node:net';
import type { Cause } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { labelNameErrors, subdomainErrors } from '../objects/names.ts';
import { duplicateValue, invalidValue, notSupported, required } from './causes.ts';
import { validateLabels, validateMetadata } from './metadata.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const;
const protocols = ['SCTP', 'TCP', 'UDP'] as const;
const affinities = ['ClientIP', 'None'] as const;
const portError = 'must be between 1 and 65535, inclusive';

interface Port {
  readonly name?: string;
  readonly protocol: string;
  readonly port: number;
  readonly targetPort: number | string;
}

/** The rules for a Service. */
export function validateService(service: KubeObject): readonly Cause[] {
  const { spec } = service;
  const ports: readonly Port[] = spec.ports ?? [];
  const isHeadless = spec.clusterIP === 'None';
  const causes = [...validateMetadata(service, labelNameErrors)];
  if (ports.length === 0 && !isHeadless && spec.type !== 'ExternalName') {
    causes.push(required('spec.ports'));
  }
  if (spec.type === 'ExternalName') {
    const name: string = spec.externalName ?? '';
    if (name === '') causes.push(required('spec.externalName'));
    else
      causes.push(
        ...subdomainErrors(name).map((error) => invalidValue('spec.externalName', name, error)),
      );
  }
  causes.push(...validatePorts(ports));
  causes.push(...validateLabels(spec.selector ?? {}, 'spec.selector'));
  causes.push(...known('spec.sessionAffinity', spec.sessionAffinity, affinities));
  causes.push(...known('spec.type', spec.type, types));
  return [...causes, ...validateAddresses(spec.clusterIPs ?? [])];
}

function known(field: string, value: string, all: readonly string[]): readonly Cause[] {
  return all.includes(value) ? [] : [notSupported(field, value, all)];
}

function validateAddresses(addresses: readonly string[]): readonly Cause[] {
  if (addresses.length === 1 && addresses[0] === 'None') return [];
  const text = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  return addresses.flatMap((address, index) =>
    isIP(address) === 0 ? [invalidValue(`spec.clusterIPs[${index}]`, address, text)] : [],
  );
}

function validatePorts(ports: readonly Port[]): readonly Cause[] {
  const causes: Cause[] = [];
  const names = new Set<string>();
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const field = `spec.ports[${index}]`;
    causes.push(...validatePort(port, field, ports.length > 1));
    const { name = '', protocol, port: number } = port;
    if (name !== '' && names.has(name)) causes.push(duplicateValue(`${field}.name`, name));
    names.add(name);
    const key = `${protocol}/${number}`;
    if (seen.has(key)) causes.push(duplicateValue(field, { port: number, protocol }));
    seen.add(key);
  }
  return causes;
}

function validatePort(port: Port, field: string, needsName: boolean): readonly Cause[] {
  const causes: Cause[] = [];
  const { name = '', targetPort } = port;
  if (name === '' && needsName) causes.push(required(`${field}.name`));
  if (name !== '') {
    const errors = labelNameErrors(name);
    causes.push(...errors.map((error) => invalidValue(`${field}.name`, name, error)));
  }
  if (!isPort(port.port)) causes.push(invalidValue(`${field}.port`, port.port, portError));
  causes.push(...known(`${field}.protocol`, port.protocol, protocols));
  if (typeof targetPort === 'number' && !isPort(targetPort)) {
    causes.push(invalidValue(`${field}.targetPort`, targetPort, portError));
  }
  return causes;
}

const isPort = (port: number): boolean => port >= 1 && port <= 65_535;

/** A Service keeps its address unless it becomes, or stops being, a mere name. */
export function validateServiceUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const isName = [next, previous].some(({ spec }) => spec.type === 'ExternalName');
  const { clusterIPs } = next.spec;
  if (isName || equal(clusterIPs, previous.spec.clusterIPs ?? clusterIPs)) return [];
  return [invalidValue('spec.clusterIPs[0]', clusterIPs, 'may not change once set')];
}
