// The table columns of Services, of their endpoints, and of ConfigMaps.
import type { KubeObject, Printer } from '@taintmgr/sim-cluster/server';
import { age, ageColumn, column, nameColumn, orNone, wide } from './columns.ts';

interface Port {
  readonly port?: number;
  readonly nodePort?: number;
  readonly protocol?: string;
}

/** The number of items of a list that are shown. */
const shownMax = 3;

const pairs = (labels: Readonly<Record<string, string>>): string =>
  orNone(
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  );

/** `80/TCP`, `80:30080/TCP`. */
function portText({ port, nodePort, protocol = 'TCP' }: Port): string {
  return nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}

function externalAddress({ spec }: KubeObject): string {
  if (spec.type === 'ExternalName') return orNone(spec.externalName);
  const listed = orNone((spec.externalIPs ?? []).join(','));
  return listed === '<none>' && spec.type === 'LoadBalancer' ? '<pending>' : listed;
}

/** Services as kubectl prints them. */
export const servicePrinter: Printer = {
  columns: [
    nameColumn,
    column('Type', 'How the Service is exposed.'),
    column('Cluster-IP', 'The IP address of the service.'),
    column('External-IP', 'IP addresses for which nodes accept traffic for this service.'),
    column('Port(s)', 'The ports that are exposed by this service.'),
    ageColumn,
    wide('Selector', 'Which pods the traffic goes to.'),
  ],
  cells: (service, now) => {
    const ports: readonly Port[] = service.spec.ports ?? [];
    return [
      service.metadata.name,
      service.spec.type ?? '',
      orNone(service.spec.clusterIP),
      externalAddress(service),
      orNone(ports.map(portText).join(',')),
      age(service, now),
      pairs(service.spec.selector ?? {}),
    ];
  },
};

/** The first few of a list, and how many more there are. */
function shown(texts: readonly string[], none: string): string {
  if (texts.length === 0) return none;
  const more = texts.length - shownMax;
  return texts.slice(0, shownMax).join(',') + (more > 0 ? ` + ${more} more...` : '');
}

/** Endpoints as kubectl prints them. */
export const endpointsPrinter: Printer = {
  columns: [
    nameColumn,
    column('Endpoints', 'The set of all endpoints is the union of all subsets.'),
    ageColumn,
  ],
  cells: (endpoints, now) => {
    const subsets: readonly {
      readonly addresses?: readonly { readonly ip: string }[];
      readonly ports?: readonly Port[];
    }[] = endpoints.subsets ?? [];
    const texts = subsets.flatMap(({ addresses = [], ports = [] }) =>
      addresses.flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`)),
    );
    return [endpoints.metadata.name, shown(texts, '<none>'), age(endpoints, now)];
  },
};

/** EndpointSlices as kubectl prints them. */
export const endpointSlicePrinter: Printer = {
  columns: [
    nameColumn,
    column('AddressType', 'The type of address carried by this EndpointSlice.'),
    column('Ports', 'The list of network ports exposed by each endpoint in this slice.'),
    column('Endpoints', 'A list of unique endpoints in this slice.'),
    ageColumn,
  ],
  cells: (slice, now) => {
    const ports: readonly Port[] = slice.ports ?? [];
    const endpoints: readonly { readonly addresses?: readonly string[] }[] = slice.endpoints ?? [];
    return [
      slice.metadata.name,
      slice.addressType,
      shown(
        ports.map(({ port }) => String(port ?? '*')),
        '<unset>',
      ),
      shown(
        endpoints.flatMap(({ addresses = [] }) => addresses),
        '<unset>',
      ),
      age(slice, now),
    ];
  },
};

/** ConfigMaps as kubectl prints them. */
export const configMapPrinter: Printer = {
  columns: [nameColumn, column('Data', 'Data contains the configuration data.'), ageColumn],
  cells: ({ metadata, data, binaryData, ...rest }, now) => [
    metadata.name,
    Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    age({ metadata, ...rest }, now),
  ],
};
